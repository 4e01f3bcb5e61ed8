"""`tritonport verify OUT`: prove an output folder again, without migrating."""

from __future__ import annotations

import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Annotated

import typer
from rich.console import Console
from rich.progress import BarColumn, MofNCompleteColumn, Progress, TextColumn

from tritonport import __version__
from tritonport.emit.lock import rules_digest
from tritonport.errors import ExitCode, UserError, worst
from tritonport.npu.tier import run_npu_compile
from tritonport.passes import all_rules
from tritonport.record import KernelRecord, RunRecord, TierResult
from tritonport.report.text import print_run
from tritonport.report.write import parse_report, write_report
from tritonport.sources.tree import SourceTree
from tritonport.verify.cases import CaseSet, case_set_for
from tritonport.verify.model import TierReport
from tritonport.verify.output import Output, kernels_of, read_output, source_of, targets_of
from tritonport.verify.tier import run_hazard, run_interpret
from tritonport.verify.versions import check_versions

Tick = Callable[[str, int, int], None]
INTERPRETED = {"interpret": run_interpret, "hazard": run_hazard}
KNOWN = (*INTERPRETED, "npu-compile")
REASONS_SHOWN = 3


def verify(  # noqa: PLR0917 - typer reads the options from the signature
    out: Annotated[Path, typer.Argument(help="A folder that migrate made.")],
    src: Annotated[
        str | None, typer.Argument(help="Its sources; default: the release that the lock file names.")
    ] = None,
    tier: Annotated[str, typer.Option(help=f"Tiers to run, by comma: {', '.join(KNOWN)}.")] = "interpret",
    from_: Annotated[
        str | None, typer.Option("--from", metavar="DIST==VERSION", help="Take the sources from this wheel.")
    ] = None,
    cases: Annotated[
        list[Path] | None, typer.Option(help="A file with make_inputs(device) and launch(**inputs).")
    ] = None,
    full: Annotated[bool, typer.Option(help="Run the long matrix of cases.")] = False,
    require_tier: Annotated[
        bool, typer.Option(help="Fail when a tier or a kernel of it did not run.")
    ] = False,
    jobs: Annotated[int, typer.Option(min=1, help="Processes that compute at one time.")] = 1,
    report: Annotated[list[str] | None, typer.Option(metavar="FORMAT=PATH", help="Write a report.")] = None,
) -> None:
    """Prove the kernels of an output folder against their originals."""
    started = time.monotonic()
    files = [parse_report(text) for text in report or []]
    tiers = _tiers(tier)
    output = read_output(out)
    source = source_of(output, src, from_)
    kernels = kernels_of(output, source, lambda slug: getattr(all_rules().get(slug), "rule_class", None))
    chosen = case_set_for(source, cases or (), full=full)
    codes: list[ExitCode] = []
    for name in tiers:
        kernels, code = _Run(output, source, chosen, jobs, require_tier).tier(name, kernels)
        codes.append(code)
    record = _record(output, kernels, time.monotonic() - started)
    print_run(record, Console())
    for file in files:
        write_report(file, record)
    raise typer.Exit(int(worst(*codes)))


def _tiers(text: str) -> tuple[str, ...]:
    names = tuple(dict.fromkeys(part.strip() for part in text.split(",") if part.strip()))
    for name in names:
        if name not in KNOWN:
            raise UserError(f"unknown tier {name!r}", f"verify runs {', '.join(KNOWN)}")
    if not names:
        raise UserError("no tier named", f"verify runs {', '.join(KNOWN)}")
    if any(name in INTERPRETED for name in names) and (wrong := check_versions()[1]):
        raise UserError(wrong)
    return names


Kernels = tuple[KernelRecord, ...]
Reasons = dict[str, tuple[str, ...]]


@dataclass(frozen=True, slots=True)
class _Run:
    """What every tier is run with."""

    output: Output
    source: SourceTree
    cases: CaseSet | None
    jobs: int
    require: bool

    def tier(self, name: str, kernels: Kernels) -> tuple[Kernels, ExitCode]:
        """The kernels with this tier's results, and what it means for the exit status."""
        with _progress(name) as tick:
            run = self._compiled if name == "npu-compile" else self._interpreted
            results, reasons, why = run(name, kernels, tick)
        if why is not None:
            typer.echo(f"tier {name} did not run: {why}", err=True)
        bad = ExitCode.COMPILER if name == "npu-compile" else ExitCode.MISMATCH
        codes = [bad] if "fail" in results.values() else []
        if self.require and "not-run" in results.values():
            codes.append(ExitCode.FINDINGS)
        return tuple(_with(kernel, name, results, reasons) for kernel in kernels), worst(*codes)

    def _compiled(self, _name: str, kernels: Kernels, tick: Tick) -> _Found:
        found = run_npu_compile(
            source=self.source,
            out=self.output.folder,
            cases=None,
            target=str(self.output.settings["target"]),
            jobs=self.jobs,
            toolchain=None,
            progress=tick,
        )
        counted = (kernel.name for kernel in kernels if kernel.apart is None)
        return {name: found.result(name) for name in counted}, {}, found.why

    def _interpreted(self, name: str, kernels: Kernels, tick: Tick) -> _Found:
        found = INTERPRETED[name](
            source=self.source,
            out=self.output.folder,
            kernels=targets_of(kernels),
            cases=self.cases,
            jobs=self.jobs,
            progress=tick,
        )
        results: dict[str, TierResult] = {v.name: v.result for v in found.kernels}
        if found.result == "fail" and "fail" not in results.values():
            return *_blame_all(found, results), found.why
        return results, _reasons(found), found.why


_Found = tuple[dict[str, TierResult], Reasons, str | None]
"""Results and reasons by kernel, and why the tier did not run."""


def _reasons(report: TierReport) -> Reasons:
    return {
        v.name: tuple(f"{report.tier}: {why}" for why in v.reasons[:REASONS_SHOWN]) for v in report.kernels
    }


def _blame_all(report: TierReport, results: dict[str, TierResult]) -> tuple[dict[str, TierResult], Reasons]:
    """A case failed, and no kernel of it could be named: none that ran has passed."""
    case = next(case for case in report.cases if case.outcome == "fail")
    why = (f"{report.tier}: {case.id}: {case.why}",)
    blamed: dict[str, TierResult] = {n: "fail" if r == "pass" else r for n, r in results.items()}
    return blamed, {name: why for name, result in blamed.items() if result == "fail"}


def _with(kernel: KernelRecord, tier: str, results: dict[str, TierResult], reasons: Reasons) -> KernelRecord:
    result = results.get(kernel.name, "not-run")
    notes = reasons.get(kernel.name, ()) if result != "pass" else ()
    return replace(kernel, tiers={**kernel.tiers, tier: result}, notes=(*kernel.notes, *notes))


def _record(output: Output, kernels: Sequence[KernelRecord], seconds: float) -> RunRecord:
    return RunRecord(
        tool={"version": __version__, "rules_digest": rules_digest()},
        source=dict(output.source),
        target=str(output.settings["target"]),
        profile=str(output.settings["profile"]),
        kernels=tuple(kernels),
        seconds=seconds,
    )


class _progress:  # noqa: N801 - reads as a verb in a with statement
    """A bar on standard error, on a terminal only."""

    def __init__(self, name: str) -> None:
        console = Console(stderr=True)
        columns = (TextColumn("{task.description}"), BarColumn(), MofNCompleteColumn())
        self._bar = Progress(*columns, console=console, transient=True, disable=not console.is_terminal)
        self._task = self._bar.add_task(name, total=None)

    def __enter__(self) -> Tick:
        self._bar.start()
        return self._tick

    def __exit__(self, *_exc: object) -> None:
        self._bar.stop()

    def _tick(self, unit: str, done: int, total: int) -> None:
        self._bar.update(self._task, description=unit, completed=done, total=total)
