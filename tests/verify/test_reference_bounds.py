"""How far a result may lie from float64 where the original misses the bound too."""

from __future__ import annotations

from typing import Any

import pytest

torch = pytest.importorskip("torch")

from tritonport.verify.child.checks import MISSED, OF_ORIGINAL, reference_checks  # noqa: E402
from tritonport.verify.tolerance import Tolerance  # noqa: E402

BOUND = Tolerance(1e-2, float("inf"), "stated")
WANT = torch.linspace(1.0, 2.0, 64, dtype=torch.float64)


class Unit:
    def tolerance(self, _name: str, _output: Any) -> Tolerance:
        return BOUND


def check(got: float, original: float) -> Any:
    """Relative errors, in bounds."""
    outputs, originals = ({"o": (WANT * (1 + e * BOUND.relative)).float()} for e in (got, original))
    (found,) = reference_checks(Unit(), outputs, {"o": WANT}, originals)  # type: ignore[arg-type]
    return found


@pytest.mark.parametrize("original", [0.0, 0.5, 0.99])
def test_an_original_within_the_bound_leaves_it(original: float) -> None:
    assert check(0.9, original).ok
    assert not check(1.1, original).ok
    assert check(0.9, original).source == "stated"


def test_an_original_that_just_misses_it_gives_the_bound() -> None:
    assert check(1.5, 1.5).ok
    assert check(1.5 * OF_ORIGINAL - 0.1, 1.5).ok
    assert not check(1.5 * OF_ORIGINAL + 0.1, 1.5).ok
    assert "the original's error, which misses 1.00e-02: stated" in check(1.5, 1.5).source


def test_an_original_that_is_wrong_gives_none() -> None:
    far = MISSED + 0.1
    assert not check(far, far).ok
    assert not check(1.1, far).ok


def test_an_original_that_is_nan_or_missing_gives_none() -> None:
    outputs = {"o": (WANT * 1.015).float()}
    for originals in ({}, {"o": WANT.float() * float("nan")}):
        (found,) = reference_checks(Unit(), outputs, {"o": WANT}, originals)  # type: ignore[arg-type]
        assert not found.ok


def test_a_missing_output_fails() -> None:
    (found,) = reference_checks(Unit(), {}, {"o": WANT}, {"o": WANT.float()})  # type: ignore[arg-type]
    assert not found.ok
