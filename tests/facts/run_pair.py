"""Runs `run(**inputs)` of two files on equal inputs under the interpreter; prints what differs, bit for bit.

    python -m tests.facts.run_pair BEFORE AFTER INPUTS

INPUTS: JSON; a list is the shape of a random float32 tensor, {"int": [...]} an int64 tensor, {"empty": [...]} a
tensor of zeros (an output), anything else itself. Tensors among the results are compared too.
"""

from __future__ import annotations

import importlib.util
import json
import sys
from pathlib import Path
from typing import Any

from tests.support import interp

TEMPLATES = Path(__file__).resolve().parents[2] / "tritonport" / "emit" / "templates"
"""Where the run-time module is that an output imports."""


def load(path: Path) -> Any:
    spec = importlib.util.spec_from_file_location(f"pair_{path.stem.replace('.', '_')}", path)
    assert spec is not None and spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


def value(spec: Any) -> Any:
    import torch

    if isinstance(spec, list):
        return torch.randn(*spec)
    if isinstance(spec, dict) and "int" in spec:
        return torch.tensor(spec["int"])
    return torch.zeros(*spec["empty"]) if isinstance(spec, dict) else spec


def results(path: Path, inputs: dict[str, Any]) -> list[Any]:
    import torch

    torch.manual_seed(0)
    args = {name: value(spec) for name, spec in inputs.items()}
    returned = load(path).run(**args)
    found = [*args.values(), *(returned if isinstance(returned, tuple) else (returned,))]
    return [item for item in found if isinstance(item, torch.Tensor)]


def main() -> None:
    import torch

    sys.path.append(str(TEMPLATES))
    before, after, inputs = Path(sys.argv[1]), Path(sys.argv[2]), json.loads(sys.argv[3])
    first, second = results(before, inputs), results(after, inputs)
    same = len(first) == len(second) and all(torch.equal(a, b) for a, b in zip(first, second, strict=True))
    close = len(first) == len(second) and all(
        torch.allclose(a, b, rtol=1e-5, atol=1e-5) for a, b in zip(first, second, strict=True)
    )
    touched = any(bool(t.abs().sum() > 0) for t in first)
    print(json.dumps({"same": same, "close": close, "touched": touched}))


if __name__ == "__main__":
    interp.install()
    main()
