"""Runs the tiers that were asked for over a migrated folder and writes their results into the record."""

from __future__ import annotations

from collections.abc import Callable, Collection, Mapping, Sequence
from dataclasses import asdict, dataclass, field, replace
from pathlib import Path
from typing import Any

from tritonport.catalog import resizing_rules
from tritonport.engine.linemap import Origin
from tritonport.errors import ExitCode, UserError, worst
from tritonport.npu.tier import NpuReport, run_npu_compile
from tritonport.npu.toolchain import Missing, locate, machine_problem
from tritonport.record import TIERS, KernelRecord, RunRecord, TierResult
from tritonport.report.reasons import same_as_original
from tritonport.sources.tree import SourceTree
from tritonport.verify.cases import CaseSet
from tritonport.verify.device.summary import summary
from tritonport.verify.device.tier import run_gpu, run_npu
from tritonport.verify.goldens import replay
from tritonport.verify.model import KernelTarget, TierReport
from tritonport.verify.output import target_of
from tritonport.verify.tier import run_hazard, run_interpret

Progress = Callable[[str, int, int], None]
INTERPRETED = {"interpret": run_interpret, "hazard": run_hazard}
ON_DEVICE = ("gpu", "npu-run")
REPLAYED = ("interpret", *ON_DEVICE)
"""Tiers that can hold an output against goldens."""

RUNNABLE = ("parse", *INTERPRETED, "gpu", "npu-compile", "npu-run")


@dataclass(frozen=True)
class TierRun:
    """What the tiers work on. cases: for the interpreted tiers, None for the corpus'; own_cases: they are the
    user's, so the tiers with a device take them too. full: the corpus' long matrix there.

    goldens: a recorded folder that a tier holds the output against instead of running the originals. device: the
    number of the GPU or NPU.
    """

    source: SourceTree
    out: Path
    jobs: int = 1
    cases: CaseSet | None = None
    toolchain: Path | None = None
    origins: Mapping[str, tuple[Origin, ...]] = field(default_factory=dict[str, tuple[Origin, ...]])
    goldens: Path | None = None
    own_cases: bool = False
    full: bool = False
    device: int = 0


@dataclass(frozen=True)
class TierOutcome:
    """The record with tier results, the exit code they give, and lines that explain them."""

    record: RunRecord
    exit_code: ExitCode
    lines: tuple[str, ...]


def parse_tiers(text: str) -> tuple[str, ...]:
    """`interpret,npu-compile` as names. Raises UserError for an unknown or not yet runnable one."""
    names = tuple(dict.fromkeys(part.strip() for part in text.split(",") if part.strip()))
    for name in names:
        if name not in TIERS:
            raise UserError(f"unknown tier {name!r}", f"known: {', '.join(TIERS)}")
        if name not in RUNNABLE:
            raise UserError(f"tier {name} cannot be run by this version", f"it runs: {', '.join(RUNNABLE)}")
    return names


def check_toolchain(chosen: Path | None) -> None:
    """Raises UserError for an environment that was named and is none, on a machine that could run the compiler."""
    found = locate(chosen) if chosen is not None and machine_problem() is None else None
    if isinstance(found, Missing):
        raise UserError(f"--toolchain: {found.why}", "without it the installed compiler is taken")


def run_tiers(run: TierRun, record: RunRecord, tiers: Sequence[str], progress: Progress) -> TierOutcome:
    """Run each tier in turn."""
    outcome = TierOutcome(record, ExitCode.OK, ())
    for tier in tiers:
        if tier == "parse":
            outcome = _parse(run, outcome)
        elif tier in INTERPRETED:
            outcome = _with_report(run, outcome, _interpreted(tier, run, _targets(outcome), progress))
        elif tier in ON_DEVICE:
            targets = _targets(outcome, resizing_rules())
            outcome = _with_report(run, outcome, _on_device(tier, run, targets, progress))
        elif tier == "npu-compile":
            outcome = _npu_compile(run, outcome, progress)
    return outcome


def _parse(run: TierRun, before: TierOutcome) -> TierOutcome:
    """Whether the file of every kernel is there and compiles as Python."""
    kernels: list[KernelRecord] = []
    lines = list(before.lines)
    for kernel in before.record.kernels:
        result: TierResult = "pass"
        try:
            compile((run.out / kernel.file).read_bytes(), kernel.file, "exec", dont_inherit=True)
        except (OSError, SyntaxError, ValueError) as error:
            result = "fail" if kernel.outcome != "not-converted" else "not-run"
            lines += [f"parse: {kernel.name}: {error}"] if result == "fail" else []
        kernels.append(replace(kernel, tiers={**kernel.tiers, "parse": result}))
    failed = any(kernel.tiers["parse"] == "fail" for kernel in kernels)
    code = worst(ExitCode.MISMATCH if failed else ExitCode.OK, before.exit_code)
    return TierOutcome(replace(before.record, kernels=tuple(kernels)), code, tuple(lines))


def _targets(before: TierOutcome, resizing: Collection[str] = ()) -> list[KernelTarget]:
    return [target_of(k, resizing) for k in before.record.kernels if k.outcome != "not-converted"]


def _with_report(run: TierRun, before: TierOutcome, report: TierReport) -> TierOutcome:
    kernels = tuple(_with_verdict(kernel, report) for kernel in before.record.kernels)
    said = portable(report.to_json(), (run.out.resolve(), run.source.root))
    extra = {**before.record.extra, report.tier: said}
    code = ExitCode.MISMATCH if report.result == "fail" else ExitCode.OK
    record = replace(before.record, kernels=kernels, extra=extra)
    return TierOutcome(record, worst(code, before.exit_code), (*before.lines, *_report_lines(report)))


def portable(value: Any, roots: Sequence[Path]) -> Any:
    """The same with paths relative to these folders: a record says nothing about the machine that ran."""
    if isinstance(value, dict):
        return {key: portable(item, roots) for key, item in value.items()}
    if isinstance(value, list | tuple):
        return [portable(item, roots) for item in value]
    if isinstance(value, str):
        for root in roots:
            value = value.replace(f"{root}/", "")
    return value


def _interpreted(tier: str, run: TierRun, targets: Sequence[KernelTarget], progress: Progress) -> TierReport:
    if run.goldens is not None:
        return replay(
            goldens=run.goldens,
            source=run.source,
            out=run.out,
            kernels=targets,
            jobs=run.jobs,
            progress=progress,
        )
    return INTERPRETED[tier](
        source=run.source,
        out=run.out,
        kernels=targets,
        cases=run.cases,
        jobs=run.jobs,
        progress=progress,
    )


def _on_device(tier: str, run: TierRun, targets: Sequence[KernelTarget], progress: Progress) -> TierReport:
    if tier == "npu-run":
        return run_npu(
            source=run.source,
            out=run.out,
            kernels=targets,
            progress=progress,
            goldens=run.goldens,
            index=run.device,
        )
    return run_gpu(
        source=run.source,
        out=run.out,
        kernels=targets,
        cases=run.cases if run.own_cases else None,
        progress=progress,
        goldens=run.goldens,
        index=run.device,
        full=run.full,
    )


def _with_verdict(kernel: KernelRecord, report: TierReport) -> KernelRecord:
    verdict = report.kernel(kernel.name)
    result: TierResult = verdict.result if verdict is not None else "not-run"
    return replace(kernel, tiers={**kernel.tiers, report.tier: result})


def _report_lines(report: TierReport) -> list[str]:
    lines = [f"{report.tier}: not run: {report.why}"] if report.result == "not-run" and report.why else []
    if report.tier in ON_DEVICE:
        lines += [f"{report.tier}: {line}" for line in summary(report)]
    for verdict in report.kernels:
        if verdict.result == "fail":
            lines += [f"{report.tier}: {verdict.name}: {reason}" for reason in verdict.reasons]
    for case in report.cases:
        if case.outcome == "fail":
            lines.append(f"{report.tier}: case {case.id}: {case.why}")
    return lines


def _npu_compile(run: TierRun, before: TierOutcome, progress: Progress) -> TierOutcome:
    report = run_npu_compile(
        source=run.source,
        out=run.out,
        cases=None,
        target=before.record.target,
        jobs=run.jobs,
        toolchain=run.toolchain,
        progress=progress,
        origins=run.origins or None,
    )
    if report.status == "not-run":
        return replace(before, lines=(*before.lines, f"npu-compile: not run: {report.why}"))
    kernels = tuple(
        _with_npu(kernel, _npu_entry(report, kernel.name), report.result(kernel.name))
        for kernel in before.record.kernels
    )
    refused = report.refused()
    code = worst(ExitCode.COMPILER if refused else ExitCode.OK, before.exit_code)
    said = [asdict(message) for message in report.messages]
    lines = [f"npu-compile: {note}" for note in report.notes]
    lines += [f"npu-compile: {m}{same_as_original(asdict(m), said)}" for m in refused]
    return TierOutcome(replace(before.record, kernels=kernels), code, (*before.lines, *lines))


def _npu_entry(report: NpuReport, kernel: str) -> dict[str, Any] | None:
    """The figures of a kernel's cases, and what the compiler said of it, at its lines."""
    entry = report.kernels.get(kernel)
    if entry is None:
        return None
    return {**entry, "messages": [asdict(m) for m in report.messages if m.kernel == kernel]}


def _with_npu(kernel: KernelRecord, entry: dict[str, Any] | None, result: TierResult) -> KernelRecord:
    if entry is None:
        return kernel
    return replace(kernel, tiers={**kernel.tiers, "npu-compile": result}, npu=[*(kernel.npu or []), entry])
