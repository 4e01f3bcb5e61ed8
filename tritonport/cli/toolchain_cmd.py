"""`tritonport toolchain install|status`: the isolated Ascend compiler."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Annotated

import typer
from rich.console import Console
from rich.progress import BarColumn, Progress, TextColumn, TimeElapsedColumn

from tritonport.npu.install import install
from tritonport.npu.pins import pins
from tritonport.npu.toolchain import Toolchain, ToolchainStatus, toolchain_status

toolchain_app = typer.Typer(
    help="The Ascend compiler that checks kernels without a device.", no_args_is_help=True
)


@toolchain_app.command("install")
def install_command(
    ir: Annotated[
        str | None,
        typer.Option(
            "--ir",
            metavar="VERSION",
            help=f"ascendnpu-ir: {', '.join(sorted(pins().compilers, reverse=True))}.",
        ),
    ] = None,
    python: Annotated[
        Path | None, typer.Option(help="The CPython 3.10 or 3.11 to use; else one is looked for.")
    ] = None,
) -> None:
    """Install the compiler into an environment of its own in the user's cache (1.3 GB).

    A half-made one is continued.
    """
    console = Console(stderr=True)
    columns = (TextColumn("{task.description}"), BarColumn(), TimeElapsedColumn())
    with Progress(*columns, console=console, transient=True, disable=not console.is_terminal) as bar:
        task = bar.add_task("toolchain", total=None)

        def show(step: str, done: int, total: int) -> None:
            bar.update(task, description=step, completed=done, total=total)

        made = install(ir, show, python=python)
    typer.echo(_installed(made))


@toolchain_app.command("status")
def status_command(
    as_json: Annotated[bool, typer.Option("--json", help="Print the facts as JSON.")] = False,
) -> None:
    """Show what is installed, and what this machine can do."""
    status = toolchain_status()
    typer.echo(json.dumps(status.to_json(), indent=1) if as_json else describe(status))


def _installed(made: Toolchain) -> str:
    return f"triton-ascend {made.triton_ascend}, ascendnpu-ir {made.ascendnpu_ir}: {made.home}"


def describe(status: ToolchainStatus) -> str:
    """The status in words, for `toolchain status` and `doctor`."""
    if not status.supported:
        return f"Ascend compiler: not run here ({status.why})"
    lines = [f"Ascend compiler: {status.folder}"]
    lines += [f"  ascendnpu-ir {name}: installed" for name in status.installed]
    lines += [f"  ascendnpu-ir {name}: begun, not complete" for name in status.half]
    if status.default not in status.installed:
        lines.append(f"  ascendnpu-ir {status.default}: `tritonport toolchain install` installs it")
    if status.installed:
        lines.append(f"  {status.megabytes} MB")
    return "\n".join(lines)
