"""Every kernel launch of this process passes here: the interpreter's grid executor is the one point that
heuristics, tuners and every way of launching share."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from math import prod
from pathlib import Path
from typing import Any, Protocol

from tritonport.verify.child.shims.untyped import interp


@dataclass(frozen=True, slots=True)
class Launch:
    """One launch. kernel is `module:function`; file is where its source lies; grid has three axes."""

    kernel: str
    file: Path
    line: int
    grid: tuple[int, int, int]
    arguments: dict[str, Any]

    @property
    def programs(self) -> int:
        return prod(self.grid)


class Listener(Protocol):
    """Hears of each launch before it runs, and again after."""

    def before(self, launch: Launch) -> None: ...

    def after(self, launch: Launch) -> None: ...


_listeners: list[Listener] = []


def listen(listener: Listener) -> None:
    _listeners.append(listener)


def unlisten(listener: Listener) -> None:
    _listeners.remove(listener)


def install() -> None:
    """Hook the grid executor; once per process, after the shims."""
    stock = interp.GridExecutor.__call__

    def call(self: Any, *args: Any, **kwargs: Any) -> Any:
        if not _listeners:
            return stock(self, *args, **kwargs)
        launch = _describe(self, args, kwargs)
        heard = tuple(_listeners)
        for listener in heard:
            listener.before(launch)
        try:
            return stock(self, *args, **kwargs)
        finally:
            for listener in reversed(heard):
                listener.after(launch)

    interp.GridExecutor.__call__ = call


def _describe(executor: Any, args: tuple[Any, ...], kwargs: dict[str, Any]) -> Launch:
    arguments = dict(zip(executor.arg_names, args, strict=False))
    arguments.update({k: v for k, v in kwargs.items() if k in executor.arg_names})
    code = executor.fn.__code__
    return Launch(
        kernel=f"{executor.fn.__module__}:{executor.fn.__name__}",
        file=Path(code.co_filename),
        line=code.co_firstlineno,
        grid=_grid(executor.grid, arguments),
        arguments=arguments,
    )


def _grid(grid: Any, arguments: dict[str, Any]) -> tuple[int, int, int]:
    value: Any = grid(arguments) if isinstance(grid, Callable) else grid
    axes = [int(axis) for axis in (value if isinstance(value, (tuple, list)) else (value,))]
    return (*axes, 1, 1, 1)[:3]  # type: ignore[return-value] # padded to three, as the executor does


@dataclass(slots=True)
class Count:
    """Launches of one kernel that ran at least one program."""

    file: Path
    launches: int = 0
    programs: int = 0
    widest: int = 0
    """Programs of the largest launch."""


class Counter:
    """Counts launches per kernel. An empty grid runs nothing and counts as nothing."""

    def __init__(self) -> None:
        self.kernels: dict[str, Count] = {}

    def before(self, launch: Launch) -> None:
        if launch.programs:
            count = self.kernels.setdefault(launch.kernel, Count(launch.file))
            count.launches += 1
            count.programs += launch.programs
            count.widest = max(count.widest, launch.programs)

    def after(self, launch: Launch) -> None:
        pass

    def __enter__(self) -> Counter:
        listen(self)
        return self

    def __exit__(self, *_exc: object) -> None:
        unlisten(self)

    def to_json(self) -> dict[str, Any]:
        return {
            name: {"file": str(c.file), "launches": c.launches, "programs": c.programs, "widest": c.widest}
            for name, c in self.kernels.items()
        }
