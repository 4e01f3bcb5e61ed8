"""Runs case files (META, make_inputs, launch, reference) under the interpreter, in a process of its own.

    python -m tests.support.run_case [--root FOLDER] FILE...

One JSON object per line: `error` (or null), `ratio` (largest ||got-want|| / ||want|| of the outputs),
`right` (ratio within META's rtol, 0 by default, and finite exactly where the reference is), `digest` of the
outputs' bytes, `launches` as [kernel, [x, y, z]] pairs. FOLDER is put first on sys.path, so that a case finds
its package there. Inputs come from one seed, so that two runs of one file can be compared bit for bit.
"""

from __future__ import annotations

import argparse
import hashlib
import importlib.util
import json
import sys
import warnings
from pathlib import Path
from types import ModuleType
from typing import Any

from tests.support import interp


def load(path: Path) -> ModuleType:
    spec = importlib.util.spec_from_file_location(f"case_{path.stem}", path)
    assert spec is not None and spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    sys.modules[spec.name] = module
    spec.loader.exec_module(module)
    return module


def _tuple(value: Any) -> tuple[Any, ...]:
    return tuple(value) if isinstance(value, (tuple, list)) else (value,)


def ratio(got: Any, want: Any) -> float:
    """||got-want|| / ||want||, infinite where shapes or the places of non-finite values differ."""
    import torch

    if got.shape != want.shape:
        return float("inf")
    a, b = got.double(), want.double()
    if not torch.equal(torch.isfinite(a), torch.isfinite(b)):
        return float("inf")
    fine = torch.isfinite(b)
    size = b[fine].norm().item()
    return (a[fine] - b[fine]).norm().item() / (size or 1.0)


def digest(outputs: tuple[Any, ...]) -> str:
    total = hashlib.sha256()
    for item in outputs:
        total.update(repr((item.dtype, tuple(item.shape))).encode())
        total.update(item.detach().contiguous().numpy().tobytes())
    return total.hexdigest()


def run(path: Path) -> dict[str, Any]:
    import torch

    module = load(path)
    torch.manual_seed(0)
    inputs = module.make_inputs("cpu")
    with interp.launches() as seen:
        got = _tuple(module.launch(**inputs))
    want = _tuple(module.reference(**inputs))
    worst = max((ratio(g, w) for g, w in zip(got, want, strict=True)), default=float("inf"))
    return {
        "error": None,
        "ratio": worst,
        "right": worst <= module.META.get("rtol", 0.0),
        "digest": digest(got),
        "launches": [[item.kernel, list(item.grid)] for item in seen],
    }


def main() -> None:
    parser = argparse.ArgumentParser()
    parser.add_argument("--root", type=Path)
    parser.add_argument("files", nargs="+", type=Path)
    args = parser.parse_args()
    if args.root is not None:
        sys.path.insert(0, str(args.root))
    warnings.filterwarnings("ignore")
    interp.install()
    for path in args.files:
        try:
            result = run(path)
        except Exception as problem:  # a case that fails is a result
            result = {"error": f"{type(problem).__name__}: {problem}".strip()[:2000], "launches": []}
        print(json.dumps({"file": str(path), **result}), flush=True)


if __name__ == "__main__":
    main()
