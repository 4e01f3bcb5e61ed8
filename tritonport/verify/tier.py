"""The tiers that need no device: original and migrated code side by side in Triton's interpreter."""

from __future__ import annotations

import tempfile
import time
from collections.abc import Sequence
from pathlib import Path

from tritonport.record import TierResult
from tritonport.sources.tree import SourceTree
from tritonport.verify.cases import CaseSet, case_set_for
from tritonport.verify.model import (
    CaseResult,
    InterpretReport,
    KernelTarget,
    KernelVerdict,
    TierReport,
    not_run,
)
from tritonport.verify.schedule import Progress, run_each
from tritonport.verify.slots import Job, Slot
from tritonport.verify.verdict import judge
from tritonport.verify.versions import check_versions


def run_interpret(
    *,
    source: SourceTree,
    out: Path,
    kernels: Sequence[KernelTarget],
    cases: CaseSet | None,
    jobs: int,
    progress: Progress,
) -> InterpretReport:
    """Prove each kernel against its original on the CPU.

    source: the originals; out: the folder that migrate made from them. cases: None takes the corpus of the
    package or the entry's own scripts. jobs: processes that compute at one time.
    """
    return _run("interpret", source, out, tuple(kernels), cases, jobs, progress)


def run_hazard(
    *,
    source: SourceTree,
    out: Path,
    kernels: Sequence[KernelTarget],
    cases: CaseSet | None,
    jobs: int,
    progress: Progress,
) -> TierReport:
    """The same with the target's traps switched on; arguments as for `run_interpret`.

    What the traps find in the originals is reported beside what they find in the migrated kernels; only the
    latter fails a kernel.
    """
    return _run("hazard", source, out, tuple(kernels), cases, jobs, progress)


def _run(
    tier: str,
    source: SourceTree,
    out: Path,
    targets: tuple[KernelTarget, ...],
    cases: CaseSet | None,
    jobs: int,
    progress: Progress,
) -> TierReport:
    versions, wrong = check_versions()
    if wrong is not None:
        return not_run(tier, wrong, targets)
    chosen = cases if cases is not None else case_set_for(source)
    if chosen is None or not len(chosen):
        return not_run(tier, NO_CASES, targets)
    started = time.perf_counter()
    job = Job.make(source, out, targets, chosen, hazard=tier == "hazard")
    with tempfile.TemporaryDirectory(prefix="tritonport-verify-") as scratch:
        folder = Path(scratch)
        results = tuple(run_each(job, Slot.run, folder, folder, max(1, jobs), progress))
    return report_of(tier, targets, results, out, versions, started)


def report_of(
    tier: str,
    targets: Sequence[KernelTarget],
    results: tuple[CaseResult, ...],
    out: Path,
    versions: dict[str, str],
    started: float,
) -> TierReport:
    """The verdicts that the case results give. started: time.perf_counter() at the start."""
    verdicts = tuple(judge(target, results, out.resolve()) for target in targets)
    result, why = overall(verdicts, results)
    return TierReport(tier, result, why, verdicts, results, versions, round(time.perf_counter() - started, 3))


NO_CASES = (
    "no cases: the package is none of the corpus, and its modules define no make_inputs(device) and "
    "launch(**inputs); give a file with both by --cases"
)


def overall(verdicts: Sequence[KernelVerdict], cases: Sequence[CaseResult]) -> tuple[TierResult, str | None]:
    """Fail when a kernel or a case failed; pass when something was proved; else not-run, with the first
    reason."""
    if any(v.result == "fail" for v in verdicts) or any(case.outcome == "fail" for case in cases):
        return "fail", None
    if any(v.result == "pass" for v in verdicts):
        return "pass", None
    reasons = [case.why for case in cases if case.outcome == "not-run" and case.why]
    return "not-run", reasons[0] if reasons else "no case launches any of the kernels"
