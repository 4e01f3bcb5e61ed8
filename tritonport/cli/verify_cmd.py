"""`tritonport verify OUT`: prove an output folder again, without migrating."""

from __future__ import annotations

import time
from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path
from typing import Annotated

import typer

from tritonport import __version__
from tritonport.cli import options as opt
from tritonport.cli.console import progress_bar
from tritonport.cli.result import show_result
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
from tritonport.record import RuleClass, RunRecord
from tritonport.report.write import parse_report
from tritonport.sources.tree import SourceTree
from tritonport.verify.cases import case_set_for
from tritonport.verify.device.probe import parse_device
from tritonport.verify.device.settings import DeviceKind
from tritonport.verify.device.tier import recording_on
from tritonport.verify.goldens import record as record_goldens
from tritonport.verify.output import Output, kernels_of, read_output, source_of
from tritonport.verify.tier import NO_CASES
from tritonport.verify.versions import check_versions

Tiers = Annotated[str, typer.Option(help=f"Tiers to run, by comma: {', '.join(RUNNABLE)}.")]
Cases = Annotated[
    list[Path] | None, typer.Option(help="A file with make_inputs(device) and launch(**inputs).")
]
Device = Annotated[
    str | None,
    typer.Option(metavar="cuda[:N]|npu[:N]", help="Which device; with --record, record there."),
]
RecordTo = Annotated[
    Path | None,
    typer.Option("--record", help="Keep what the originals compute in a new folder, and stop."),
]
ReplayFrom = Annotated[
    Path | None, typer.Option("--replay", help="Compare with a recorded folder; no original is run.")
]


def verify(
    out: opt.Output,
    src: Annotated[
        str | None, typer.Argument(help="Its sources; default: the release that the lock file names.")
    ] = None,
    tier: Tiers = "interpret",
    from_: opt.FromSpec = None,
    cases: Cases = None,
    full: Annotated[bool, typer.Option(help="Run the long matrix of cases.")] = False,
    device: Device = None,
    record_to: RecordTo = None,
    replay_from: ReplayFrom = None,
    require_tier: Annotated[
        bool, typer.Option(help="Fail when a tier or a kernel of it did not run.")
    ] = False,
    toolchain: opt.Toolchain = None,
    jobs: Annotated[int, typer.Option(min=1, help="Processes that compute at one time.")] = 1,
    report: opt.Reports = None,
    output_format: opt.Format = "text",
    quiet: opt.Quiet = False,
) -> None:
    """Prove the kernels of an output folder against their originals."""
    started = time.monotonic()
    reports = [parse_report(text) for text in report or []]
    opt.check_format(output_format, "text", "json")
    tiers = _tiers(tier, replayed=replay_from is not None) if record_to is None else ()
    check_toolchain(toolchain)
    chosen = None if device is None else parse_device(device)
    output = read_output(out)
    source = source_of(output, src, from_)
    record = _record(output, source)
    run = TierRun(
        source,
        output.folder,
        jobs,
        case_set_for(source, cases or (), full=full),
        toolchain,
        read_lines(output.folder),
        replay_from,
        own_cases=bool(cases),
        full=full,
    )
    if record_to is not None:
        _record_goldens(record_to, run, chosen)
        return
    run = replace(run, device=_index_for(chosen, tiers))
    with progress_bar(quiet=quiet) as show:
        outcome = run_tiers(run, record, tiers, show)
    record = replace(outcome.record, seconds=time.monotonic() - started)
    show_result(record, outcome.lines, reports, output_format, quiet=quiet)
    missing = require_tier and _missing(record, tiers)
    raise typer.Exit(int(worst(outcome.exit_code, ExitCode.FINDINGS if missing else ExitCode.OK)))


def _tiers(text: str, *, replayed: bool) -> tuple[str, ...]:
    """The tiers named. One that needs a version that is not here is a mistake when asked for by name."""
    names = parse_tiers(text)
    if not names:
        raise UserError("no tier named", f"verify runs {', '.join(RUNNABLE)}")
    if any(name in INTERPRETED for name in names) and (wrong := check_versions()[1]):
        raise UserError(wrong)
    if replayed and (live := [name for name in names if name not in REPLAYED]):
        raise UserError(f"tier {live[0]} replays no goldens", f"these do: {', '.join(REPLAYED)}")
    return names


def _missing(record: RunRecord, tiers: Sequence[str]) -> bool:
    """Whether a kernel that counts was left out by a tier."""
    return any(k.tiers[name] == "not-run" for k in record.kernels if k.apart is None for name in tiers)


def _index_for(device: tuple[DeviceKind, int] | None, tiers: Sequence[str]) -> int:
    """The device's number; a device that no tier named can use is a mistake."""
    if device is None:
        return 0
    kind, index = device
    wanted = "gpu" if kind == "cuda" else "npu-run"
    if wanted not in tiers:
        raise UserError(f"--device {kind} is for tier {wanted} and for --record", f"--tier {wanted}")
    return index


def _record_goldens(folder: Path, run: TierRun, device: tuple[DeviceKind, int] | None) -> None:
    if run.cases is None:
        raise UserError(NO_CASES)
    on = None if device is None else recording_on(*device, run.source)
    with progress_bar() as show:
        ran = record_goldens(run.source, run.cases, folder, run.jobs, show, on)
    typer.echo(f"{ran} of {len(run.cases)} cases recorded in {folder}")


def _record(output: Output, source: SourceTree) -> RunRecord:
    return RunRecord(
        tool={"version": __version__, "rules_digest": rules_digest()},
        source=dict(output.source),
        target=str(output.settings["target"]),
        profile=str(output.settings["profile"]),
        kernels=tuple(kernels_of(output, source, _class_of)),
        seconds=0.0,
    )


def _class_of(slug: str) -> RuleClass | None:
    return getattr(all_rules().get(slug), "rule_class", None)
