"""What `tritonport plan` prints: the kernels, where they are launched, and over which grid."""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping
from typing import Any

from rich.console import Console
from rich.text import Text

from tritonport.discover.model import Discovery, Kernel, Launch


def plan_json(found: Discovery, npu: Mapping[str, Any] | None = None) -> str:
    """The discovery as JSON text with a final newline; npu: what the Ascend compiler said of the originals."""
    data = found.to_json() if npu is None else {**found.to_json(), "npu": npu}
    return json.dumps(data, indent=2, ensure_ascii=False) + "\n"


def print_plan(found: Discovery, console: Console) -> None:
    """Print the plan as lines that are never wrapped: kernels, their launches, what could not be read."""
    for line in plan_lines(found):
        console.print(line, soft_wrap=True, highlight=False)


def plan_lines(found: Discovery) -> Iterator[Text]:
    """The lines of the plan: reachable kernels first, then those apart, then the rest."""
    for kernel in sorted(
        found.kernels, key=lambda k: (k.apart is not None, not k.reachable, str(k.file), k.line)
    ):
        yield _kernel_line(kernel)
        for launch in found.launches_of(kernel):
            yield _launch_line(launch)
    for problem in found.problems:
        place = f"{problem.file}:{problem.line}" if problem.line else str(problem.file)
        yield Text(f"unreadable: {place}: {problem.message}", "bold red")
    reachable = sum(kernel.reachable and kernel.apart is None for kernel in found.kernels)
    yield Text(
        f"{reachable} of {len(found.kernels)} kernels reachable from the entry, {len(found.files)} files",
        "bold",
    )


def _kernel_line(kernel: Kernel) -> Text:
    line = Text.assemble((kernel.name, "bold" if kernel.reachable else "dim"))
    line.append(f"  {'cube' if kernel.cube else 'vector'}", "cyan")
    line.append(f"  {kernel.file}:{kernel.line}", "dim")
    if kernel.apart is not None:
        line.append(f"  apart: {kernel.apart}", "yellow")
    elif not kernel.reachable:
        line.append("  not reachable", "dim")
    return line


def _launch_line(launch: Launch) -> Text:
    line = Text(f"    {launch.grid.text}  {launch.file}:{launch.line} in {launch.host}")
    if launch.grid.form == "unknown":
        line.append(f"  grid known at run time only: {launch.grid.why}", "bold yellow")
    return line
