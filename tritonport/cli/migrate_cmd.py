"""`tritonport migrate SRC -o OUT`."""

from __future__ import annotations

import shlex
import time
from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path
from typing import Annotated

import typer

from tritonport.cli import options as opt
from tritonport.cli.console import note, progress_bar
from tritonport.cli.result import show_result
from tritonport.cli.tiers import INTERPRETED, TierRun, check_toolchain, parse_tiers, run_tiers
from tritonport.config import load
from tritonport.errors import ExitCode, UserError, worst
from tritonport.migrate import EMITS, MigrateOptions, MigrateResult, migrate_tree
from tritonport.report.write import parse_report
from tritonport.sources import SourceTree, resolve
from tritonport.verify.cases import case_set_for
from tritonport.verify.versions import check_versions

Out = Annotated[Path, typer.Option("-o", "--out", help="The folder to make; replaced as a whole.")]
Tiers = Annotated[
    str | None, typer.Option(metavar="TIERS", help="Tiers to run: interpret,hazard,npu-compile.")
]
Cases = Annotated[Path | None, typer.Option(help="A script with make_inputs(device) and launch(**inputs).")]
Emit = Annotated[str, typer.Option(help=f"What OUT is: {' or '.join(EMITS)}.")]


def migrate(
    src: opt.Source,
    out: Out,
    from_spec: opt.FromSpec = None,
    target: opt.Target = None,
    profile: opt.Profile = None,
    schedule: opt.Schedule = None,
    verify: Tiers = None,
    cases: Cases = None,
    overrides: opt.Overrides = None,
    tuning: opt.Tuning = None,
    assume: opt.Assume = None,
    toolchain: opt.Toolchain = None,
    report: opt.Reports = None,
    emit: Emit = EMITS[0],
    output_format: opt.Format = "text",
    jobs: opt.Jobs = None,
    offline: opt.Offline = False,
    quiet: opt.Quiet = False,
) -> None:
    """Rewrite the kernels that SRC reaches for Ascend NPUs, and prove the result."""
    started = time.monotonic()
    config = load(Path.cwd())
    asked = opt.Asked(target, profile, schedule, jobs, overrides, tuning, assume, emit)
    options = asked.options(config, f"tritonport migrate {src}")
    tiers = _tiers(verify, options.emit, config.verify)
    check_toolchain(toolchain)
    reports = [parse_report(text, out) for text in report or []]
    opt.check_format(output_format, "text", "json")
    with progress_bar(quiet=quiet) as show:
        tree = resolve(src, from_spec=from_spec, offline=offline, progress=show)
        for line in tree.notes:
            note(line, quiet=quiet)
        run = _proof(tree, out, options, cases, toolchain)
        result = migrate_tree(tree, out, options, show)
        said = {"command": command_line(tree, options, tiers, config.ignore)}
        record = replace(result.record, extra={**result.record.extra, **said})
        outcome = run_tiers(replace(run, origins=result.origins), record, tiers, show)
    record = replace(outcome.record, seconds=time.monotonic() - started)
    show_result(record, outcome.lines, reports, output_format, quiet=quiet)
    _exit(result, outcome.exit_code)


def _tiers(asked: str | None, emit: str, configured: Sequence[str]) -> tuple[str, ...]:
    """The tiers to run. Raises UserError where they prove nothing of this output, or cannot run."""
    if emit != EMITS[0] and asked:
        raise UserError(
            f"--verify proves a tree, not --emit {emit}", "migrate without --emit to prove the kernels"
        )
    tiers = parse_tiers(asked) if asked is not None else tuple(configured)
    if set(tiers) & set(INTERPRETED) and (wrong := check_versions()[1]):
        raise UserError(wrong)
    return tiers


def _proof(
    tree: SourceTree, out: Path, options: MigrateOptions, cases: Path | None, toolchain: Path | None
) -> TierRun:
    own = None if cases is None else case_set_for(tree, [cases])
    return TierRun(tree, out, options.jobs, own, toolchain, own_cases=own is not None)


def _exit(result: MigrateResult, proved: ExitCode) -> None:
    code = worst(result.exit_code, proved)
    if code is not ExitCode.OK:
        raise typer.Exit(code)


def command_line(
    tree: SourceTree, options: MigrateOptions, tiers: Sequence[str], ignored: Sequence[str]
) -> str:
    """The command that makes the same output anywhere; no path of this machine is in it.

    ignored: rules that the configuration leaves out, which no option can say; they follow as a comment.
    """
    words = ["tritonport", "migrate", str(tree.entry)]
    if tree.distribution and tree.version:
        words += ["--from", f"{tree.distribution}=={tree.version}"]
    words += ["--target", options.target, "--profile", options.profile, "-o", "out"]
    words += ["--emit", options.emit] if options.emit != MigrateOptions.emit else []
    words += ["--schedule", options.schedule] if options.schedule != MigrateOptions.schedule else []
    words += ["--tuning", options.tuning.name] if options.tuning is not None else []
    for assumption in options.assumptions:
        words += ["--assume", assumption.text]
    words += ["--verify", ",".join(tiers)] if tiers else []
    return shlex.join(words) + (f"  # configured: ignore = {list(ignored)}" if ignored else "")
