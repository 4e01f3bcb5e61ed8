"""What a kernel's rules promise: in the interpreter by their classes, on a device by its tiles too."""

from __future__ import annotations

from tritonport.catalog import entry, resizing_rules
from tritonport.record import KernelRecord, RuleUse
from tritonport.verify.output import target_of, targets_of


def kernel(*uses: RuleUse) -> KernelRecord:
    return KernelRecord("m:k", "m.py", 1, "converted", uses)


RESIZED = kernel(RuleUse("grid-collapse", "exact", 2), RuleUse("tile-enlarge", "exact", 1))


def test_exact_rules_promise_bits_in_the_interpreter() -> None:
    assert target_of(RESIZED).exact
    assert not target_of(kernel(RuleUse("gate-precision", "reordered", 1))).exact


def test_other_tiles_promise_no_bits_on_a_device() -> None:
    assert not target_of(RESIZED, resizing_rules()).exact
    (target,) = targets_of((RESIZED,), resizing_rules())
    assert target.classes == ("exact", "reordered")


def test_the_same_tiles_keep_the_promise_on_a_device() -> None:
    assert target_of(kernel(RuleUse("grid-collapse", "exact", 2)), resizing_rules()).exact


def test_rules_that_resize_tiles_say_so() -> None:
    assert {"tile-enlarge", "heads-in-tile"} <= resizing_rules()
    assert not entry("grid-collapse").resizes_tiles
