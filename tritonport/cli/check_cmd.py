"""`tritonport check [SRC] OUT`: the drift gate."""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import replace
from pathlib import Path
from typing import Annotated, Any

import typer

from tritonport.check import CheckResult, check_output, read_lock
from tritonport.cli.console import note, progress_bar, stdout
from tritonport.cli.migrate_cmd import read_overrides
from tritonport.config import SCHEDULES, Config, load
from tritonport.errors import ExitCode, UserError
from tritonport.migrate import MigrateOptions
from tritonport.profiles import active_rules
from tritonport.sources import SourceTree, resolve
from tritonport.targets import load_target


def check(
    paths: Annotated[
        list[str],
        typer.Argument(
            metavar="[SRC] OUT",
            help="The sources (default: the release that the lock of OUT names), and a folder that migrate made.",
        ),
    ],
    from_spec: Annotated[
        str | None, typer.Option("--from", metavar="DIST==VERSION", help="Take SRC from this release.")
    ] = None,
    target: Annotated[str | None, typer.Option(help="Instead of the lock's: a2, a3 or a5.")] = None,
    profile: Annotated[str | None, typer.Option(help="Instead of the lock's.")] = None,
    schedule: Annotated[str | None, typer.Option(help="Instead of the lock's.")] = None,
    overrides: Annotated[
        list[Path] | None, typer.Option(metavar="PATH", help="Overrides and suppressions of single kernels.")
    ] = None,
    tuning: Annotated[
        Path | None, typer.Option(metavar="FILE", help="The tuning file that migrate was given.")
    ] = None,
    diff: Annotated[bool, typer.Option(help="Show the lines that differ.")] = True,
    output_format: Annotated[str, typer.Option("--format", help="text or json on stdout.")] = "text",
    jobs: Annotated[int | None, typer.Option(min=1, help="Processes at one time.")] = None,
    offline: Annotated[bool, typer.Option(help="Use cached wheels only.")] = False,
    quiet: Annotated[bool, typer.Option("--quiet", "-q", help="No notes and no progress.")] = False,
) -> None:
    """Exit 0 only if migrate would write exactly what OUT holds; else show what differs and why (exit 1).

    Target, profile and schedule are those of the lock, unless an option or the configuration file names others.
    Writes nothing.
    """
    if output_format not in ("text", "json"):
        raise UserError(f"unknown format {output_format!r}", "text or json")
    if len(paths) > 2:
        raise UserError(f"check takes SRC and OUT, not {len(paths)} paths")
    out = Path(paths[-1])
    lock = read_lock(out)
    config = load(Path.cwd())
    chosen = {"target": target, "profile": profile, "schedule": schedule}
    options = _options(lock["settings"], config, chosen, jobs)
    emit = str(lock["settings"].get("emit", MigrateOptions.emit))
    options = replace(options, overrides=read_overrides(config, overrides), emit=emit, tuning=tuning)
    with progress_bar(quiet=quiet) as show:
        source = _source(lock, paths[0] if len(paths) == 2 else None, from_spec, offline)
        result = check_output(source, out, options, show)
    for line in source.notes:
        note(line, quiet=quiet)
    if output_format == "json":
        stdout().out(json.dumps(result.to_json(), indent=2), highlight=False)
    else:
        _show(result, out, with_diff=diff)
    for path in result.kept:
        note(f"not compared: {out / path} is not made by migrate, and goes when it runs again", quiet=quiet)
    if result.differences:
        raise typer.Exit(ExitCode.FINDINGS)


def _options(
    settings: Mapping[str, Any], config: Config, chosen: Mapping[str, str | None], jobs: int | None
) -> MigrateOptions:
    """Command line before configuration file before lock."""

    def value(name: str) -> str:
        return chosen[name] or (getattr(config, name) if name in config.given else str(settings[name]))

    target, profile, schedule = load_target(value("target")), value("profile"), value("schedule")
    if schedule not in SCHEDULES:
        raise UserError(f"unknown schedule {schedule!r}", f"known: {', '.join(SCHEDULES)}")
    rules = active_rules(profile, ignore=config.ignore, skip=target.skip, extend=config.extend_rules)
    return MigrateOptions(target.name, profile, schedule, jobs or config.jobs, rules, "tritonport check")


def _source(lock: Mapping[str, Any], src: str | None, from_spec: str | None, offline: bool) -> SourceTree:
    about = lock["source"]
    if src is None and from_spec is None:
        if not (about.get("distribution") and about.get("version")):
            raise UserError("OUT was made from sources on disk", "name them: tritonport check SRC OUT")
        from_spec = f"{about['distribution']}=={about['version']}"
    return resolve(src or str(about["entry"]), from_spec=from_spec, offline=offline)


def _show(result: CheckResult, out: Path, *, with_diff: bool) -> None:
    console = stdout()
    for item in result.differences:
        line = f"{item.state:<8}{item.path}  ({'; '.join(item.why)})"
        console.print(line, soft_wrap=True, highlight=False, markup=False)
        if with_diff:
            console.out(item.diff, end="", highlight=False)
    count = len(result.differences)
    total = f"{out}: " + (
        f"{count} {'file differs' if count == 1 else 'files differ'} from what migrate would write"
        if count
        else "exactly what migrate would write"
    )
    console.print(total, soft_wrap=True, highlight=False, markup=False)
