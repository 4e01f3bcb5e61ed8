"""What discovery knows about a source tree. All files are relative to the tree's root, all lines are upstream's."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import PurePosixPath
from typing import Any, Literal

from tritonport.sources.tree import SourceTree

GridForm = Literal["tuple", "lambda", "def", "unknown"]


@dataclass(frozen=True, slots=True)
class Grid:
    """The grid of one launch site.

    text: as the source writes it (`(NT, B * HV)`). axes: source text per axis, x first.
    meta: names that the grid reads from the launch's meta-parameters (`BV` of `meta['BV']`).
    why: for form `unknown`, the sub-expression that stopped the analysis.
    """

    text: str
    form: GridForm
    axes: tuple[str, ...] = ()
    meta: tuple[str, ...] = ()
    why: str | None = None


@dataclass(frozen=True, slots=True)
class Launch:
    """One `kernel[grid](...)`. kernels: `module:kernel` of every kernel that an alias may stand for."""

    kernels: tuple[str, ...]
    file: PurePosixPath
    line: int
    host: str
    """Qualified name of the enclosing function, `<module>` at top level."""
    grid: Grid
    reachable: bool


@dataclass(frozen=True, slots=True)
class Kernel:
    """One `@triton.jit` function that is launched or has program ids; helpers called from kernels are not kernels.

    name: `module:function` (`fla.ops.common.chunk_o:chunk_fwd_kernel_o`).
    decorators: source text of each decorator, outermost first.
    cube: whether it uses `tl.dot`, directly or through helpers.
    apart: why it does not count for the exit status, or None.
    opaque: why no rule can take it (made inside a function, say), or None.
    """

    name: str
    file: PurePosixPath
    line: int
    decorators: tuple[str, ...]
    cube: bool
    reachable: bool
    apart: str | None = None
    opaque: str | None = None

    @property
    def function(self) -> str:
        return self.name.partition(":")[2]

    @property
    def module(self) -> str:
        return self.name.partition(":")[0]


@dataclass(frozen=True, slots=True)
class Problem:
    """A file of the closure that could not be read (syntax, encoding), with the line when there is one."""

    file: PurePosixPath
    line: int | None
    message: str


@dataclass(frozen=True, slots=True)
class Discovery:
    """Everything that `plan` prints and `migrate` works from."""

    tree: SourceTree
    files: tuple[PurePosixPath, ...]
    """The import closure, sorted."""
    kernels: tuple[Kernel, ...]
    launches: tuple[Launch, ...]
    problems: tuple[Problem, ...]

    def launches_of(self, kernel: Kernel) -> tuple[Launch, ...]:
        return tuple(launch for launch in self.launches if kernel.name in launch.kernels)

    def to_json(self) -> dict[str, Any]:
        """The result of `tritonport plan --format json`."""
        return {
            "schema": "tritonport.plan/1",
            "files": [str(f) for f in self.files],
            "kernels": [
                {
                    "name": k.name,
                    "file": str(k.file),
                    "line": k.line,
                    "decorators": list(k.decorators),
                    "cores": "cube" if k.cube else "vector",
                    "reachable": k.reachable,
                    "apart": k.apart,
                    "opaque": k.opaque,
                    "launches": [
                        {
                            "file": str(x.file),
                            "line": x.line,
                            "host": x.host,
                            "grid": x.grid.text,
                            "form": x.grid.form,
                            "axes": list(x.grid.axes),
                            "meta": list(x.grid.meta),
                            "why": x.grid.why,
                        }
                        for x in self.launches_of(k)
                    ],
                }
                for k in self.kernels
            ],
            "problems": [{"file": str(p.file), "line": p.line, "message": p.message} for p in self.problems],
        }
