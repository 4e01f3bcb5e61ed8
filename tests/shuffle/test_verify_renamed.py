"""The tiers prove a package in which no name is familiar: what they look at are launches, not names."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from pathlib import Path

import pytest

from tests.shuffle.test_names_do_not_matter import renamed_tree
from tests.support.releases import migrated
from tests.support.shuffle import Shuffled
from tritonport.resources import corpus_root
from tritonport.verify.cases import CaseSet, Operator, load_case_set
from tritonport.verify.model import KernelTarget
from tritonport.verify.tier import run_hazard, run_interpret

CASES = ("chunk-varlen-fp32", "recurrent-no-gate")
ROLES = ("q", "k", "v", "g", "beta", "scale", "initial_state", "output_final_state", "cu_seqlens")


def renamed_cases(copy: Shuffled) -> CaseSet:
    """Two cases of the corpus, under the names that the copy gives operators and parameters."""
    everything = load_case_set(corpus_root() / "fla_gdn" / "cases.toml")
    chosen = tuple(case for case in everything.cases if case.id in CASES)
    operators = {case.operator: everything.operators[case.operator] for case in chosen}
    callables = {name: _callable(operator, copy) for name, operator in operators.items()}
    roles = {role: copy.name(role) for role in ROLES}
    kept = replace(everything, operators=operators, cases=chosen)
    return kept.renamed(callables, dict.fromkeys(operators, roles))


def _callable(operator: Operator, copy: Shuffled) -> str:
    """The operator's function where its package re-exports it."""
    module, _, function = operator.callables[0].partition(":")
    return f"{copy.modules[module]}:{copy.name(function)}"


@pytest.mark.slow
@pytest.mark.parametrize("run", [run_interpret, run_hazard])
def test_a_renamed_copy_is_proved(
    run: Callable[..., object], shuffled: Callable[[str], Shuffled], tmp_path: Path
) -> None:
    copy = shuffled("0.6.0")
    tree = renamed_tree(copy)
    result = migrated(tree)
    targets = tuple(KernelTarget(k.name) for k in result.record.kernels if k.outcome == "converted")
    report = run(
        source=tree, out=result.out, kernels=targets, cases=renamed_cases(copy), jobs=2,
        progress=lambda *_: None,
    )  # fmt: skip
    assert [case.outcome for case in report.cases] == ["pass", "pass"], [case.why for case in report.cases]
    assert report.result == "pass"
    passed = [kernel for kernel in report.kernels if kernel.result == "pass"]
    assert len(passed) >= 9, (
        "every kernel of the chunked operator, forward and backward, and the recurrent one"
    )
    assert all(kernel.launches_before == kernel.launches_after > 0 for kernel in passed)
