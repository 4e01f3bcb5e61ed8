"""Runs a GDN operator of a real fla-core with its NPU check faked, and says which kernels were launched.

    python -m tests.backend.child SITE OUT

First as it is, then with the NPU check answering yes, so that upstream's hand port is asked, then with the package of
OUT imported as well. Prints one JSON object.
"""

from __future__ import annotations

import importlib
import inspect
import json
import os
import sys
import warnings
from pathlib import Path
from typing import Any

from tests.golden.record_launches import SCENARIOS, inputs
from tests.support import interp
from tests.support.operators import CHUNK, _find
from tests.support.run_case import digest

CASE = next(case for case in SCENARIOS if case.name == "chunk, packed")
PACKAGE = "fla_tritonport"


def operator() -> list[str]:
    """Forward and backward; digests of what they give."""
    given = inputs(CASE)
    out, state = _find(CHUNK)(**given)
    (out.float().sum() + state.float().sum()).backward()
    return [digest((out, state)), digest(tuple(given[name].grad for name in ("q", "k", "v", "g", "beta")))]


def observed() -> dict[str, Any]:
    """What the operator gives, or how it ends, and the modules of the kernels that it launched."""
    found: dict[str, Any] = {"digests": [], "error": ""}
    with interp.launches() as seen:
        try:
            found["digests"] = operator()
        except Exception as error:
            frames = [f.filename for f in inspect.getinnerframes(error.__traceback__)]  # type: ignore[arg-type]
            found["error"] = " ".join([str(error), *(f for f in frames if "/fla/" in f)])
    return {**found, "modules": sorted({launch.module for launch in seen})}


def order(package: Any) -> dict[str, list[str]]:
    """Per offered function, the types of the backends that are asked, in order."""
    return {f"{f.module}:{f.name}": asked(package, f) for f in package.FUNCTIONS}


def asked(package: Any, function: Any) -> list[str]:
    backends = sys.modules[package.BaseBackend.__module__]
    if function.operation is None:
        upstream = getattr(importlib.import_module(function.module), function.name)
        registry = backends._function_registries[inspect.unwrap(upstream)]
    elif hasattr(backends, "_operation_registries"):
        registry = backends._operation_registries[function.operation]
    else:
        registry = backends.BackendRegistry._registries[function.operation]
    known = [b for b in registry._get_sorted_backends() if b.is_available() and b.is_enabled()]
    return [b.backend_type for b in known if hasattr(b, function.name) or b.__dict__.get("implementation")]


def refusals(package: Any) -> list[Any]:
    """What the verifier of the state update says to tensors that lie elsewhere, and to these."""
    import torch

    (function,) = [f for f in package.FUNCTIONS if f.name == "chunk_gated_delta_rule_fwd_h"]
    here, elsewhere = torch.zeros(1, 4, 1, 16), torch.zeros(1, 4, 1, 16, device="meta")
    return [function.verify(here, here, here), function.verify(here, elsewhere, here)]


def main(site: Path, out: Path) -> None:
    warnings.filterwarnings("ignore")
    sys.path[:0] = [str(site), str(out)]
    interp.install()
    import fla.utils

    result: dict[str, Any] = {"plain": observed()}
    fla.utils.IS_NPU = True
    result["port"] = observed()
    importlib.import_module(PACKAGE)
    package = sys.modules[f"{PACKAGE}.backend"]
    result |= {"ours": observed(), "order": order(package), "refusals": refusals(package)}
    os.environ["FLA_TRITONPORT"] = "0"
    result["off"] = order(package)
    print(json.dumps(result))


if __name__ == "__main__":
    main(Path(sys.argv[1]), Path(sys.argv[2]))
