"""`tritonport migrate SRC -o OUT`."""

from __future__ import annotations

import shlex
import time
from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path
from typing import Annotated

import typer

from tritonport.cli.console import note, progress_bar, stdout
from tritonport.cli.tiers import INTERPRETED, TierRun, check_toolchain, parse_tiers, run_tiers
from tritonport.config import SCHEDULES, Config, load
from tritonport.engine.assume import parse_assumption
from tritonport.errors import ExitCode, UserError, worst
from tritonport.migrate import EMITS, ORDER, MigrateOptions, migrate_tree
from tritonport.overrides import Entry, load_overrides
from tritonport.passes import all_rules
from tritonport.profiles import active_rules
from tritonport.report.run_json import run_json
from tritonport.report.text import print_run
from tritonport.report.write import parse_report, write_report
from tritonport.sources import SourceTree, resolve
from tritonport.targets import load_target
from tritonport.verify.cases import case_set_for
from tritonport.verify.versions import check_versions


def migrate(
    src: Annotated[
        str, typer.Argument(metavar="SRC", help="A folder, a file, or a module of an installed package.")
    ],
    out: Annotated[Path, typer.Option("-o", "--out", help="The folder to make; replaced as a whole.")],
    from_spec: Annotated[
        str | None, typer.Option("--from", metavar="DIST==VERSION", help="Take SRC from this release.")
    ] = None,
    target: Annotated[str | None, typer.Option(help="a2, a3 or a5.")] = None,
    profile: Annotated[str | None, typer.Option(help="baseline, tuned or max.")] = None,
    schedule: Annotated[str | None, typer.Option(help="contiguous or interleaved tasks.")] = None,
    verify: Annotated[
        str | None, typer.Option(metavar="TIERS", help="Tiers to run: interpret,hazard,npu-compile.")
    ] = None,
    cases: Annotated[
        Path | None, typer.Option(help="A script with make_inputs(device) and launch(**inputs).")
    ] = None,
    overrides: Annotated[
        list[Path] | None, typer.Option(metavar="PATH", help="Overrides and suppressions of single kernels.")
    ] = None,
    tuning: Annotated[
        Path | None, typer.Option(metavar="FILE", help="Tiles and rules per kernel, as tune wrote them.")
    ] = None,
    assume: Annotated[
        list[str] | None,
        typer.Option(
            metavar="EXPR", help='What holds for every launch, like "T % 64 == 0"; checked at run time.'
        ),
    ] = None,
    toolchain: Annotated[Path | None, typer.Option(help="An existing Ascend compiler environment.")] = None,
    report: Annotated[
        list[str] | None,
        typer.Option(
            "--report", metavar="FMT=PATH", help="json, html, sarif, markdown, junit or text=PATH; github."
        ),
    ] = None,
    emit: Annotated[str, typer.Option(help=f"What OUT is: {' or '.join(EMITS)}.")] = EMITS[0],
    output_format: Annotated[str, typer.Option("--format", help="text or json on stdout.")] = "text",
    jobs: Annotated[int | None, typer.Option(min=1, help="Processes at one time.")] = None,
    offline: Annotated[bool, typer.Option(help="Use cached wheels only.")] = False,
    quiet: Annotated[bool, typer.Option("--quiet", "-q", help="No notes and no progress.")] = False,
) -> None:
    """Rewrite the kernels that SRC reaches for Ascend NPUs, and prove the result."""
    started = time.monotonic()
    config = load(Path.cwd())
    options = _options(config, target, profile, schedule, jobs, src)
    options = replace(
        options, overrides=read_overrides(config, overrides), tuning=tuning, emit=_emit(emit, verify)
    )
    options = _assuming(options, assume or [])
    tiers = parse_tiers(verify) if verify is not None else config.verify
    if set(tiers) & set(INTERPRETED) and (wrong := check_versions()[1]):
        raise UserError(wrong)
    check_toolchain(toolchain)
    reports = [parse_report(text, out) for text in report or []]
    if output_format not in ("text", "json"):
        raise UserError(f"unknown format {output_format!r}", "text or json")
    with progress_bar(quiet=quiet) as show:
        tree = resolve(src, from_spec=from_spec, offline=offline, progress=show)
        for line in tree.notes:
            note(line, quiet=quiet)
        own_cases = None if cases is None else case_set_for(tree, [cases])
        result = migrate_tree(tree, out, options, show)
        run = TierRun(
            tree, out, options.jobs, own_cases, toolchain, result.origins, own_cases=own_cases is not None
        )
        extra = {**result.record.extra, "command": command_line(tree, options, tiers, config.ignore)}
        outcome = run_tiers(run, replace(result.record, extra=extra), tiers, show)
    record = replace(outcome.record, seconds=time.monotonic() - started)
    for item in reports:
        write_report(item, record)
    if output_format == "json":
        stdout().out(run_json(record), end="", highlight=False)
    else:
        print_run(record, stdout())
    for line in outcome.lines:
        note(line, quiet=quiet)
    code = worst(result.exit_code, outcome.exit_code)
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


def read_overrides(config: Config, own: Sequence[Path] | None) -> tuple[Entry, ...]:
    """The entries that count: those of the tool, of the configuration and of the command line."""
    return load_overrides([*config.override_paths(), *(own or ())], all_rules(), ORDER)


def _assuming(options: MigrateOptions, texts: Sequence[str]) -> MigrateOptions:
    """The options with what the user asserts, and the rule that guards it."""
    if not texts:
        return options
    rules = options.rules or ()
    added = () if "mask-removal" in rules else ("mask-removal",)
    return replace(
        options, assumptions=tuple(parse_assumption(text) for text in texts), rules=(*rules, *added)
    )


def _emit(emit: str, verify: str | None) -> str:
    if emit not in EMITS:
        raise UserError(f"unknown --emit {emit!r}", f"known: {', '.join(EMITS)}")
    if emit != EMITS[0] and verify:
        raise UserError(
            f"--verify proves a tree, not --emit {emit}", "migrate without --emit to prove the kernels"
        )
    return emit


def _options(
    config: Config, target: str | None, profile: str | None, schedule: str | None, jobs: int | None, src: str
) -> MigrateOptions:
    chosen = load_target(target or config.target)
    name = profile or config.profile
    order = schedule or config.schedule
    if order not in SCHEDULES:
        raise UserError(f"unknown schedule {order!r}", f"known: {', '.join(SCHEDULES)}")
    rules = active_rules(name, ignore=config.ignore, skip=chosen.skip, extend=config.extend_rules)
    return MigrateOptions(chosen.name, name, order, jobs or config.jobs, rules, f"tritonport migrate {src}")
