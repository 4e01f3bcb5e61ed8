"""`tritonport verify OUT`: prove an output folder again, without migrating."""

from __future__ import annotations

import time
from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path
from typing import Annotated

import typer

from tritonport import __version__
from tritonport.cli.console import note, progress_bar, stdout
from tritonport.cli.tiers import (
    INTERPRETED,
    REPLAYED,
    RUNNABLE,
    TierRun,
    check_toolchain,
    parse_tiers,
    run_tiers,
)
from tritonport.emit.lock import read_lines, rules_digest
from tritonport.errors import ExitCode, UserError, worst
from tritonport.passes import all_rules
from tritonport.record import KernelRecord, RunRecord
from tritonport.report.text import print_run
from tritonport.report.write import parse_report, write_report
from tritonport.sources.tree import SourceTree
from tritonport.verify.cases import CaseSet, case_set_for
from tritonport.verify.device.probe import parse_device
from tritonport.verify.device.settings import DeviceKind
from tritonport.verify.device.tier import recording_on
from tritonport.verify.goldens import record as record_goldens
from tritonport.verify.output import Output, kernels_of, read_output, source_of
from tritonport.verify.tier import NO_CASES
from tritonport.verify.versions import check_versions


def verify(
    out: Annotated[Path, typer.Argument(help="A folder that migrate made.")],
    src: Annotated[
        str | None, typer.Argument(help="Its sources; default: the release that the lock file names.")
    ] = None,
    tier: Annotated[str, typer.Option(help=f"Tiers to run, by comma: {', '.join(RUNNABLE)}.")] = "interpret",
    from_: Annotated[
        str | None, typer.Option("--from", metavar="DIST==VERSION", help="Take the sources from this wheel.")
    ] = None,
    cases: Annotated[
        list[Path] | None, typer.Option(help="A file with make_inputs(device) and launch(**inputs).")
    ] = None,
    full: Annotated[bool, typer.Option(help="Run the long matrix of cases.")] = False,
    device: Annotated[
        str | None,
        typer.Option(metavar="cuda[:N]|npu[:N]", help="Which device; with --record, record there."),
    ] = None,
    record_to: Annotated[
        Path | None,
        typer.Option("--record", help="Keep what the originals compute in a new folder, and stop."),
    ] = None,
    replay_from: Annotated[
        Path | None, typer.Option("--replay", help="Compare with a recorded folder; no original is run.")
    ] = None,
    require_tier: Annotated[
        bool, typer.Option(help="Fail when a tier or a kernel of it did not run.")
    ] = False,
    toolchain: Annotated[Path | None, typer.Option(help="An existing Ascend compiler environment.")] = None,
    jobs: Annotated[int, typer.Option(min=1, help="Processes that compute at one time.")] = 1,
    report: Annotated[
        list[str] | None,
        typer.Option(metavar="FMT=PATH", help="json, html, sarif, markdown, junit or text=PATH; github."),
    ] = None,
    quiet: Annotated[bool, typer.Option("--quiet", "-q", help="No notes and no progress.")] = False,
) -> None:
    """Prove the kernels of an output folder against their originals."""
    started = time.monotonic()
    files = [parse_report(text) for text in report or []]
    tiers = _tiers(tier) if record_to is None else ()
    if replay_from is not None and (wrong := [name for name in tiers if name not in REPLAYED]):
        raise UserError(f"tier {wrong[0]} replays no goldens", f"these do: {', '.join(REPLAYED)}")
    check_toolchain(toolchain)
    chosen_device = None if device is None else parse_device(device)
    output = read_output(out)
    source = source_of(output, src, from_)
    kernels = kernels_of(output, source, lambda slug: getattr(all_rules().get(slug), "rule_class", None))
    chosen = case_set_for(source, cases or (), full=full)
    if record_to is not None:
        _record_goldens(record_to, source, chosen, jobs, chosen_device)
        return
    record = _record(output, kernels, 0.0)
    run = TierRun(
        source,
        output.folder,
        jobs,
        chosen,
        toolchain,
        read_lines(output.folder),
        replay_from,
        own_cases=bool(cases),
        full=full,
        device=_index_for(chosen_device, tiers),
    )
    with progress_bar(quiet=quiet) as show:
        outcome = run_tiers(run, record, tiers, show)
    record = replace(outcome.record, seconds=time.monotonic() - started)
    print_run(record, stdout())
    for line in outcome.lines:
        note(line, quiet=quiet)
    for file in files:
        write_report(file, record)
    codes = [outcome.exit_code]
    if require_tier and any(
        k.tiers[name] == "not-run" for k in record.kernels if k.apart is None for name in tiers
    ):
        codes.append(ExitCode.FINDINGS)
    raise typer.Exit(int(worst(*codes)))


def _tiers(text: str) -> tuple[str, ...]:
    """The tiers named. One that needs a version that is not here is a mistake when asked for by name."""
    names = parse_tiers(text)
    if not names:
        raise UserError("no tier named", f"verify runs {', '.join(RUNNABLE)}")
    if any(name in INTERPRETED for name in names) and (wrong := check_versions()[1]):
        raise UserError(wrong)
    return names


def _index_for(device: tuple[DeviceKind, int] | None, tiers: Sequence[str]) -> int:
    """The device's number; a device that no tier named can use is a mistake."""
    if device is None:
        return 0
    kind, index = device
    wanted = "gpu" if kind == "cuda" else "npu-run"
    if wanted not in tiers:
        raise UserError(f"--device {kind} is for tier {wanted} and for --record", f"--tier {wanted}")
    return index


def _record_goldens(
    folder: Path,
    source: SourceTree,
    cases: CaseSet | None,
    jobs: int,
    device: tuple[DeviceKind, int] | None,
) -> None:
    if cases is None:
        raise UserError(NO_CASES)
    on = None if device is None else recording_on(*device, source)
    with progress_bar() as show:
        ran = record_goldens(source, cases, folder, jobs, show, on)
    typer.echo(f"{ran} of {len(cases)} cases recorded in {folder}")


def _record(output: Output, kernels: Sequence[KernelRecord], seconds: float) -> RunRecord:
    return RunRecord(
        tool={"version": __version__, "rules_digest": rules_digest()},
        source=dict(output.source),
        target=str(output.settings["target"]),
        profile=str(output.settings["profile"]),
        kernels=tuple(kernels),
        seconds=seconds,
    )
