"""Runs `run(**inputs)` of pairs of files on equal inputs under the interpreter and says whether they agree.

    python -m tests.rules.run_pairs < [[BEFORE, AFTER, INPUTS], ...] > [{same, close, touched}, ...]

INPUTS: a list is the shape of a random float32 tensor, {"int": [...]} an int64 tensor, {"bool": [...]} random truth
values of that shape, {"empty": [...]} a tensor of NaN (an output), {"zeros": [...]} one of int64 zeros, anything else
itself.
"""

from __future__ import annotations

import json
import sys
from pathlib import Path
from typing import Any

from tests.facts.run_pair import TEMPLATES, load
from tests.support import interp


def value(spec: Any) -> Any:
    import torch

    if isinstance(spec, list):
        return torch.randn(*spec)
    if not isinstance(spec, dict):
        return spec
    ((kind, data),) = spec.items()
    makers = {
        "int": torch.tensor,
        "bool": lambda shape: torch.rand(*shape) > 0.5,
        "empty": lambda shape: torch.full(shape, float("nan")),
        "zeros": lambda shape: torch.zeros(*shape, dtype=torch.int64),
    }
    return makers[kind](data)


def results(path: Path, inputs: dict[str, Any]) -> list[Any]:
    import torch

    torch.manual_seed(0)
    args = {name: value(spec) for name, spec in inputs.items()}
    returned = load(path).run(**args)
    found = [*args.values(), *(returned if isinstance(returned, tuple) else (returned,))]
    return [item for item in found if isinstance(item, torch.Tensor)]


def compare(before: Path, after: Path, inputs: dict[str, Any]) -> dict[str, bool]:
    import torch

    first, second = results(before, inputs), results(after, inputs)
    pairs = list(zip(first, second, strict=True))
    finite = all(bool(torch.isfinite(t).all()) for t in first)
    return {
        "same": finite and all(torch.equal(a, b) for a, b in pairs),
        "close": finite and all(torch.allclose(a, b, rtol=1e-5, atol=1e-5) for a, b in pairs),
        "touched": any(bool(t.abs().sum() > 0) for t in first),
    }


def main() -> None:
    found = [compare(Path(pair[0]), Path(pair[1]), pair[2]) for pair in json.load(sys.stdin)]
    print(json.dumps(found))


if __name__ == "__main__":
    sys.path.insert(0, str(TEMPLATES))
    interp.install()
    main()
