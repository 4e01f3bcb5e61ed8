"""`python -m tritonport.verify.child.device.probe KIND INDEX`: what this machine has, as one line of JSON.

`{"facts": {...}, "processors": n}`, or `{"why": one line}` where there is no such device. Run in a process of its
own, because asking for a device loads its drivers.
"""

from __future__ import annotations

import importlib
import json
import sys
from typing import Any


def ask(kind: str, index: int) -> dict[str, Any]:
    try:
        from tritonport.verify.child.device.backends import KINDS, UnusableError
    except ImportError as error:
        return {"why": f"{error.name or 'torch'} is not installed"}
    backend = next(made for name, made in KINDS.items() if name == kind)(index)
    try:
        backend.prepare()
        importlib.import_module("safetensors")  # what the two sides exchange
        return {"facts": backend.facts(), "processors": backend.processors()}
    except UnusableError as error:
        return {"why": str(error)}
    except ImportError as error:
        return {"why": f"{error.name} is not installed"}
    except Exception as error:
        lines = str(error).strip().splitlines() or [""]
        return {"why": f"{kind}:{index} cannot be used: {type(error).__name__}: {lines[0]}"[:300]}


if __name__ == "__main__":
    sys.stdout.write(json.dumps(ask(sys.argv[1], int(sys.argv[2]))) + "\n")
