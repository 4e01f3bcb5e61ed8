"""How far a reordered result may lie from the original: in the units of its own type, and never less than rounding."""

from __future__ import annotations

import pytest

torch = pytest.importorskip("torch")

from tritonport.verify.child.checks import original_checks  # noqa: E402
from tritonport.verify.tolerance import ToleranceSpec  # noqa: E402

BOUND = ToleranceSpec().against_reference("bf16", "bf16", 256)


def checked(got, want):
    return {check.what: check.ok for check in original_checks(got, want, BOUND)}


def test_a_bound_in_bf16_units_holds_for_an_fp32_output_in_its_units():
    want = {"a": torch.linspace(1.0, 2.0, 64)}
    assert checked({"a": want["a"] * (1 + BOUND.relative / 2)}, want) == {"a": True}
    assert checked({"a": want["a"] * (1 + BOUND.relative * 2)}, want) == {"a": False}


def test_one_wrong_element_fails_in_any_type():
    for dtype in (torch.float32, torch.bfloat16):
        want = torch.ones(4096, dtype=dtype)
        got = want.clone()
        got[7] = 1.5
        assert checked({"a": got}, {"a": want}) == {"a": False}


def test_what_cancels_to_nothing_is_held_to_what_fp32_sums_lose():
    large = torch.full((64,), 8.0)
    noise = torch.full((64,), 8.0 * BOUND.noise / 2)
    assert checked({"a": large, "b": noise}, {"a": large, "b": -noise}) == {"a": True, "b": True}
    wrong = torch.full((64,), 8.0 * BOUND.noise * 2)
    assert checked({"a": large, "b": wrong}, {"a": large, "b": -wrong}) == {"a": True, "b": False}


def test_a_small_output_beside_a_large_one_may_not_be_wrong():
    large, small = torch.full((64,), 8.0), torch.full((64,), 0.01)
    assert checked({"a": large, "b": small * 1.5}, {"a": large, "b": small}) == {"a": True, "b": False}
