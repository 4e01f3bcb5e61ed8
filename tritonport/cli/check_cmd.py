"""`tritonport check [SRC] OUT`: the drift gate."""

from __future__ import annotations

import json
from collections.abc import Mapping
from pathlib import Path
from typing import Annotated, Any

import typer

from tritonport.check import CheckResult, check_output, read_lock
from tritonport.cli import options as opt
from tritonport.cli.console import note, progress_bar, stdout
from tritonport.config import load
from tritonport.errors import ExitCode, UserError
from tritonport.sources import SourceTree, resolve


def check(
    paths: Annotated[
        list[str],
        typer.Argument(
            metavar="[SRC] OUT",
            help="The sources (default: the release that the lock of OUT names), and a folder that migrate made.",
        ),
    ],
    from_spec: opt.FromSpec = None,
    target: opt.Target = None,
    profile: opt.Profile = None,
    schedule: opt.Schedule = None,
    overrides: opt.Overrides = None,
    tuning: opt.Tuning = None,
    assume: opt.Assume = None,
    diff: Annotated[bool, typer.Option(help="Show the lines that differ.")] = True,
    output_format: opt.Format = "text",
    jobs: opt.Jobs = None,
    offline: opt.Offline = False,
    quiet: opt.Quiet = False,
) -> None:
    """Exit 0 only if migrate would write exactly what OUT holds; else show what differs and why (exit 1).

    Target, profile, schedule, kind of output and assumptions are those of the lock, unless an option or the
    configuration file names others. Writes nothing.
    """
    opt.check_format(output_format, "text", "json")
    if len(paths) > 2:
        raise UserError(f"check takes SRC and OUT, not {len(paths)} paths")
    out = Path(paths[-1])
    lock = read_lock(out)
    asked = opt.Asked(target, profile, schedule, jobs, overrides, tuning, assume)
    options = asked.options(load(Path.cwd()), "tritonport check", lock["settings"])
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
