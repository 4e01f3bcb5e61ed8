"""What a verdict says about a hazard that upstream has too."""

from __future__ import annotations

from pathlib import Path

from tritonport.verify.model import CaseResult, Finding, KernelTarget
from tritonport.verify.verdict import judge

TWICE = "two tasks write one address"


def finding(side: str, detail: str, line: int) -> Finding:
    return Finding(side, TWICE, "error", "m:k", "m.py", line, ("0", "1"), detail)


def reasons(*findings: Finding) -> tuple[str, ...]:
    case = CaseResult("c", "o", "pass", findings=findings)
    verdict = judge(KernelTarget("m:k"), [case], Path("/out"))
    assert verdict.result == "fail"
    return verdict.reasons


def test_a_hazard_of_the_original_is_named_as_such() -> None:
    (why,) = reasons(finding("original", "argument a", 3), finding("migrated", "argument a", 30))
    assert why.endswith("argument a (the original does the same)")


def test_a_hazard_at_another_argument_is_the_migrated_code_s_own() -> None:
    (why,) = reasons(finding("original", "argument a", 3), finding("migrated", "argument b", 30))
    assert why.endswith("argument b")
