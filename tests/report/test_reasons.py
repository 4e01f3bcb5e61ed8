"""The line that a report shows of a tier that failed."""

from __future__ import annotations

from typing import Any

import pytest

from tritonport.cli.result import show_result
from tritonport.record import TIERS, KernelRecord, RunRecord
from tritonport.report.reasons import first_reasons, same_as_original

CRASH = {
    "kernel": "m:k",
    "case": "odd",
    "kind": "crash",
    "text": "opt crashed after 12 ms",
    "file": "m.py",
    "line": 4,
}


def _kernel(*failed: str, npu: list[dict[str, Any]] | None = None) -> KernelRecord:
    tiers = {tier: "fail" if tier in failed else "pass" for tier in TIERS}
    return KernelRecord("m:k", "m.py", 3, "converted", tiers=tiers, npu=npu)


def _record(kernel: KernelRecord, **extra: Any) -> RunRecord:
    return RunRecord({}, {}, "a2", "baseline", (kernel,), 0.0, extra)


INTERPRET = {
    "kernels": [{"name": "m:k", "reasons": ("off by one", "off by two")}, {"name": "m:j", "reasons": ()}]
}


def test_the_first_reason_of_each_failed_tier():
    kernel = _kernel("interpret", "hazard")
    extra = {"interpret": INTERPRET, "hazard": {"kernels": [{"name": "m:k", "reasons": ["wraps"]}]}}
    assert list(first_reasons(kernel, extra)) == [("interpret", "off by one", 1), ("hazard", "wraps", 0)]
    assert list(first_reasons(_kernel(), extra)) == []


@pytest.mark.parametrize(
    ("theirs", "same"),
    [
        ({**CRASH, "text": "opt crashed after 7 ms", "line": 1}, True),
        ({**CRASH, "case": "even"}, False),
        ({**CRASH, "kind": "time-out"}, False),
        ({**CRASH, "text": "no such op"}, False),
    ],
)
def test_what_the_original_does_too_is_said(theirs: dict[str, Any], same: bool):
    messages = [{**theirs, "side": "before"}, {**CRASH, "side": "after"}]
    assert bool(same_as_original(messages[1], messages)) is same
    ((tier, reason, more),) = first_reasons(_kernel("npu-compile", npu=[{"messages": messages}]), {})
    assert (tier, more) == ("npu-compile", 0)
    assert reason.startswith("m.py:4: opt crashed after 12 ms")
    assert ("the original does the same" in reason) is same


def test_quiet_keeps_the_reason_and_it_is_shown_once(capsys: pytest.CaptureFixture[str]):
    record = _record(_kernel("interpret"), interpret=INTERPRET)
    lines = ["interpret: m:k: off by one", "interpret: m:k: off by two"]
    show_result(record, lines, [], "text", quiet=True)
    shown = capsys.readouterr()
    assert "interpret: off by one (and 1 more)" in shown.out
    assert shown.err == ""
    show_result(record, lines, [], "text", quiet=False)
    shown = capsys.readouterr()
    assert shown.out.count("off by one") == 1
    assert "off by one" not in shown.err
    assert "off by two" in shown.err
