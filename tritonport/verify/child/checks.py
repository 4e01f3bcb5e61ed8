"""Turns comparisons into checks: a named output, what it was held against, the error, the bound and its
source."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from typing import Any

from torch import Tensor

from tritonport.verify.child.compare import DTYPE_NAMES, Difference, compare, leaves
from tritonport.verify.child.units import Unit
from tritonport.verify.model import Check
from tritonport.verify.tolerance import Tolerance

BITWISE = "exact rules: bit for bit"
OF_ORIGINAL = 2.0
"""How far from float64 a result may be where the original misses its bound, in errors of the original: what
flash-attention's tests allow a kernel beside PyTorch in the same type."""
MISSED = 4.0
"""An original that is further off than so many bounds is wrong, not badly conditioned: the bound stays."""


def exact_check(what: str, got: Any, want: Any) -> Check:
    """Equal bit for bit; plain values by ==."""
    if isinstance(got, Tensor) and isinstance(want, Tensor):
        found = compare(got, want)
        why = None if found.bitwise else found.why or _how_far(found)
        return Check(
            what, "original", found.bitwise, found.bitwise, found.relative, found.ulps, 0.0, BITWISE, why
        )
    same = type(got) is type(want) and got == want
    return Check(
        what, "original", same, same, 0.0, 0.0, 0.0, BITWISE, None if same else f"{got!r} instead of {want!r}"
    )


def _how_far(found: Difference) -> str:
    return f"not equal bit for bit, relative error {found.relative:.1e}"


def close_check(
    what: str, against: str, got: Tensor, want: Tensor, bound: Tolerance, scale: float = 0.0
) -> Check:
    """scale: size of the numbers that want was summed from, where that may be far above want itself."""
    found = compare(got, want)
    why = found.why or _too_far(found, bound)
    if why is not None and found.why is None and _is_rounding(got, want, bound, scale):
        why = None
    return Check(
        what,
        against,
        why is None,
        found.bitwise,
        found.relative,
        found.ulps,
        bound.relative,
        bound.source,
        why,
    )


def _too_far(found: Difference, bound: Tolerance) -> str | None:
    if found.bitwise:
        return None
    if not found.relative <= bound.relative:
        return f"relative error {found.relative:.2e} over {bound.relative:.2e}"
    if not found.ulps <= bound.ulps:
        return f"largest error {found.ulps:.0f} ulp over {bound.ulps:.0f}"
    return None


def _is_rounding(got: Tensor, want: Tensor, bound: Tolerance, scale: float) -> bool:
    """Whether all that differs is what fp32 sums lose of numbers of that size: a difference that should be 0 has no
    relative error worth the name."""
    return float((got.double() - want.double()).abs().max()) <= bound.noise * scale


def _rms(leaf: Any) -> float:
    """Root mean square of a tensor of numbers, 0 for anything else."""
    if not isinstance(leaf, Tensor) or not leaf.is_floating_point() or not leaf.numel():
        return 0.0
    value = float(leaf.double().pow(2).mean().sqrt())
    return value if value < float("inf") else 0.0


def reference_checks(
    unit: Unit,
    outputs: Mapping[str, Tensor],
    reference: Mapping[str, Tensor] | None,
    originals: Mapping[str, Tensor],
) -> list[Check]:
    """Each output that the reference knows. An output that is missing fails. originals: the original's outputs."""
    checks: list[Check] = []
    for name, want in (reference or {}).items():
        got = outputs.get(name)
        if got is None:
            checks.append(Check(name, "reference", False, False, why="missing"))
        else:
            bound = _attainable(unit.tolerance(name, got), originals.get(name), want)
            checks.append(close_check(name, "reference", got, want, bound))
    return checks


def _attainable(bound: Tolerance, original: Tensor | None, want: Tensor) -> Tolerance:
    """The bound, or, where the original just misses it on these inputs, a multiple of the original's error."""
    if original is None:
        return bound
    found = compare(original, want)
    widest = bound.scaled(MISSED)
    if found.why is not None or _too_far(found, bound) is None or _too_far(found, widest) is not None:
        return bound
    source = f"{OF_ORIGINAL:g} times the original's error, which misses {bound.relative:.2e}: {bound.source}"
    return replace(
        bound,
        relative=max(bound.relative, OF_ORIGINAL * found.relative),
        ulps=max(bound.ulps, OF_ORIGINAL * found.ulps),
        source=source,
    )


def original_checks(got: Any, want: Any, bound: Tolerance | None) -> list[Check]:
    """Each leaf against the original's: bit for bit where bound is None."""
    theirs = {path.removeprefix("."): leaf for path, leaf in leaves(want)}
    mine = {path.removeprefix("."): leaf for path, leaf in leaves(got)}
    checks = [
        Check(p, "original", False, False, why="only one side returns it")
        for p in theirs.keys() ^ mine.keys()
    ]
    scale = max((_rms(leaf) for leaf in theirs.values()), default=0.0)
    for path in theirs.keys() & mine.keys():
        a, b = mine[path], theirs[path]
        if bound is not None and isinstance(a, Tensor) and isinstance(b, Tensor):
            own = bound.in_units_of(DTYPE_NAMES.get(a.dtype, "fp32"))
            checks.append(close_check(path, "original", a, b, own, scale if b.dim() else 0.0))
        else:
            checks.append(exact_check(path, a, b))
    return sorted(checks, key=lambda check: check.what)
