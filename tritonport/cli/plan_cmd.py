"""`tritonport plan SRC`."""

from __future__ import annotations

from typing import Annotated

import typer

from tritonport.cli.console import note, progress_bar, stdout
from tritonport.discover import discover
from tritonport.errors import ExitCode, UserError
from tritonport.report.plan import plan_json, print_plan
from tritonport.sources import resolve


def plan(
    src: Annotated[
        str, typer.Argument(metavar="SRC", help="A folder, a file, or a module of an installed package.")
    ],
    from_spec: Annotated[
        str | None, typer.Option("--from", metavar="DIST==VERSION", help="Take SRC from this release.")
    ] = None,
    output_format: Annotated[str, typer.Option("--format", help="table or json.")] = "table",
    offline: Annotated[bool, typer.Option(help="Use cached wheels only.")] = False,
    quiet: Annotated[bool, typer.Option("--quiet", "-q", help="No notes and no progress.")] = False,
) -> None:
    """Show the kernels that SRC reaches, their launches and grids. Writes nothing.

    A file that cannot be read is named on stderr (exit 2); the result holds what the others have.
    """
    if output_format not in ("table", "json"):
        raise UserError(f"unknown format {output_format!r}", "table or json")
    with progress_bar(quiet=quiet) as show:
        tree = resolve(src, from_spec=from_spec, offline=offline, progress=show)
        found = discover(tree)
    for line in tree.notes:
        note(line, quiet=quiet)
    if output_format == "json":
        stdout().out(plan_json(found), end="", highlight=False)
    else:
        print_plan(found, stdout())
    for problem in found.problems:
        typer.echo(f"tritonport: {UserError(problem.message, '', str(problem.file), problem.line)}", err=True)
    if found.problems:
        raise typer.Exit(ExitCode.USAGE)
