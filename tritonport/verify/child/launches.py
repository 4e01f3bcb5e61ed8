"""Every kernel launch of this process passes here. In the interpreter the grid executor, on a device
`JITFunction.run` is the one point that heuristics, tuners and every way of launching share."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from math import prod
from pathlib import Path
from typing import Any, Protocol


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
    """Hook the grid executor of the interpreter; once per process, after the shims."""
    from tritonport.verify.child.shims.untyped import interp

    stock = interp.GridExecutor.__call__

    def call(self: Any, *args: Any, **kwargs: Any) -> Any:
        return _announce(
            self.fn, self.arg_names, self.grid, args, kwargs, lambda: stock(self, *args, **kwargs)
        )

    interp.GridExecutor.__call__ = call


def install_compiled() -> None:
    """Hook the launches of compiled kernels; once per process."""
    from triton.runtime.jit import JITFunction

    kind: Any = JITFunction
    stock = kind.run

    def run(self: Any, *args: Any, grid: Any, warmup: bool, **kwargs: Any) -> Any:
        def launch() -> Any:
            return stock(self, *args, grid=grid, warmup=warmup, **kwargs)

        if warmup:  # compiles, launches nothing
            return launch()
        return _announce(self.fn, self.arg_names, grid, args, kwargs, launch)

    kind.run = run


def _announce(
    function: Any,
    names: Any,
    grid: Any,
    args: tuple[Any, ...],
    kwargs: dict[str, Any],
    launch: Callable[[], Any],
) -> Any:
    """Tell the listeners, launch, and tell them again. A launch that fails is not counted."""
    if not _listeners:
        return launch()
    about = _describe(function, names, grid, args, kwargs)
    heard = tuple(_listeners)
    for listener in heard:
        listener.before(about)
    try:
        return launch()
    except BaseException:
        for listener in heard:
            if isinstance(listener, Counter):
                listener.take_back(about)
        raise
    finally:
        for listener in reversed(heard):
            listener.after(about)


def _describe(function: Any, names: Any, grid: Any, args: tuple[Any, ...], kwargs: dict[str, Any]) -> Launch:
    arguments = dict(zip(names, args, strict=False))
    arguments.update({k: v for k, v in kwargs.items() if k in names})
    code = function.__code__
    return Launch(
        kernel=f"{function.__module__}:{function.__name__}",
        file=Path(code.co_filename),
        line=code.co_firstlineno,
        grid=_grid(grid, arguments),
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

    def take_back(self, launch: Launch) -> None:
        """A configuration that does not fit the device ran nothing; the tuner tries another one."""
        count = self.kernels.get(launch.kernel)
        if count is not None and launch.programs:
            count.launches -= 1
            count.programs -= launch.programs
            if not count.launches:
                del self.kernels[launch.kernel]

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
