"""`tritonport plan SRC`."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated, Any

import typer

from tritonport.cli import options as opt
from tritonport.cli.console import Show, note, progress_bar, stdout
from tritonport.cli.tiers import check_toolchain
from tritonport.discover import discover
from tritonport.errors import ExitCode, UserError
from tritonport.npu.text import lines as npu_lines
from tritonport.npu.tier import NpuReport, run_npu_compile
from tritonport.report.plan import plan_json, print_plan
from tritonport.sources import SourceTree, resolve


def plan(
    src: opt.Source,
    from_spec: opt.FromSpec = None,
    output_format: Annotated[str, typer.Option("--format", help="table or json.")] = "table",
    npu_compile: Annotated[
        bool, typer.Option("--npu-compile", help="Compile the originals with the Ascend compiler: who fits.")
    ] = False,
    target: Annotated[str, typer.Option(help="a2 or a3, for --npu-compile.")] = "a2",
    toolchain: opt.Toolchain = None,
    jobs: Annotated[int, typer.Option(min=1, help="Processes at one time.")] = 1,
    offline: opt.Offline = False,
    quiet: opt.Quiet = False,
) -> None:
    """Show the kernels that SRC reaches, their launches and grids. Writes nothing.

    --npu-compile shows what the target's compiler says of the originals; what it refuses is no failure of the plan.
    A file that cannot be read is named on stderr (exit 2); the result holds what the others have.
    """
    opt.check_format(output_format, "table", "json")
    check_toolchain(toolchain)
    with progress_bar(quiet=quiet) as show:
        tree = resolve(src, from_spec=from_spec, offline=offline, progress=show)
        found = discover(tree)
        report = _compiled(tree, target, jobs, toolchain, show) if npu_compile else None
    for line in tree.notes:
        note(line, quiet=quiet)
    if output_format == "json":
        npu = None if report is None else _facts(report)
        stdout().out(plan_json(found, npu), end="", highlight=False)
    else:
        print_plan(found, stdout())
        for line in () if report is None else npu_lines(report):
            stdout().print(line, soft_wrap=True, highlight=False, markup=False)
    for problem in found.problems:
        typer.echo(f"tritonport: {UserError(problem.message, '', str(problem.file), problem.line)}", err=True)
    if found.problems:
        raise typer.Exit(ExitCode.USAGE)


def _compiled(tree: SourceTree, target: str, jobs: int, toolchain: Path | None, show: Show) -> NpuReport:
    return run_npu_compile(
        source=tree, out=None, cases=None, target=target, jobs=jobs, toolchain=toolchain, progress=show
    )


def _facts(report: NpuReport) -> dict[str, Any]:
    return {"status": report.status, "why": report.why, "kernels": dict(report.kernels)}
