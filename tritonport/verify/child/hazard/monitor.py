"""Collects what the traps find while operators run, per kernel, line and task."""

from __future__ import annotations

import inspect
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import numpy as np

from tritonport.verify.child.hazard.memory import SAME_VALUE, Memory, Region
from tritonport.verify.child.hazard.sizes import (
    FLOATS,
    FLOATS_TEXT,
    SIZE_KINDS,
    WRAPS,
    Reach,
    rows_move,
    wraps_at,
    wraps_text,
)
from tritonport.verify.child.launches import Launch, listen, unlisten
from tritonport.verify.model import Finding

WARNINGS = (
    "masked load addresses out of bounds",
    "masked store addresses out of bounds",
    "masked atomic addresses out of bounds",
    "sum kept by a loop without trips",
    *SIZE_KINDS,
)
"""What a device may tolerate, or what only larger sizes make wrong."""

MAX_PROGRAMS = 65535
"""Programs of one launch that the Ascend launcher takes (its error text: coreDim can't be greater than
UINT16_MAX)."""


@dataclass(slots=True)
class _Seen:
    tasks: tuple[str, ...]
    detail: str
    count: int = 0


@dataclass(slots=True)
class _Tasks:
    """The tasks of the running launch: serial number -> label. A task is a logical program: where the
    launched kernel hands its tasks to a device function, one call of it; else one program of the grid."""

    labels: list[str] = field(default_factory=list[str])
    in_call: bool = False


class Monitor:
    """Context manager. roots: folders whose files count as kernel source. `findings` when done."""

    current: Monitor | None = None

    def __init__(self, side: str, roots: tuple[Path, ...]) -> None:
        self._side = side
        self._roots = tuple(str(root) for root in roots)
        self._seen: dict[tuple[str, str, str, int], _Seen] = {}
        self._launch: Launch | None = None
        self._tasks = _Tasks()
        self._zero_trip = (-1, 0)
        self._reaches: dict[tuple[str, str, tuple[int, ...], str, int], Reach] = {}
        self.memory: Memory | None = None

    def __enter__(self) -> Monitor:
        listen(self)
        return self

    def __exit__(self, *_exc: object) -> None:
        unlisten(self)

    def before(self, launch: Launch) -> None:
        self._launch, self._tasks, self._zero_trip = launch, _Tasks(["0"]), (-1, 0)
        self.memory = Memory(launch.arguments, self._note_access)
        Monitor.current = self
        if launch.programs > MAX_PROGRAMS:
            self.note("grid over 65535", f"{launch.programs} programs", line=(str(launch.file), launch.line))

    def after(self, launch: Launch) -> None:
        Monitor.current = None
        for (kind, argument, _, file, line), reach in self._reaches.items():
            self._note_reach(kind, argument, (file, line), reach)
        self._reaches.clear()
        self._launch = self.memory = None

    def origin(
        self, kind: str, argument: str, origin: int, elements: int, shape: tuple[int, ...] = ()
    ) -> None:
        """A tile of the running task starts at this offset (or number) at the statement that runs now.

        shape: of the tile. A statement adds its rows and its columns to the pointer one after the other, each from a
        start of its own.
        """
        task = self._tasks.labels[self.task]
        key = (kind, argument, shape, *self.where())
        known = self._reaches.setdefault(key, Reach(origin, origin, elements, task))
        known.add(origin, task)

    def _note_reach(self, kind: str, argument: str, line: tuple[str, int], reach: Reach) -> None:
        """At the end of a launch: whether the origins of a statement grow with the input."""
        if kind == FLOATS and rows_move(reach):
            self.note(kind, FLOATS_TEXT, tasks=(reach.task,), line=line)
        elif kind == WRAPS and (elements := wraps_at(reach)) is not None:
            self.note(kind, wraps_text(argument, elements), tasks=(reach.task,), line=line)

    @property
    def task(self) -> int:
        return len(self._tasks.labels) - 1

    def enter_program(self, ids: tuple[int, int, int]) -> None:
        launch = self._launch
        axes = 1 if launch is None else max(n for n in (1, 2, 3) if n == 1 or launch.grid[n - 1] > 1)
        self._tasks.labels.append(", ".join(str(i) for i in ids[:axes]))

    def enter_call(self, function: Any, arguments: tuple[Any, ...]) -> bool:
        """Whether this call of a device function is one task of the launched kernel."""
        launch = self._launch
        if launch is None or self._tasks.in_call or not _is_task_function(function, launch):
            return False
        ids = _leading_ids(function, launch, arguments)
        serial = len(self._tasks.labels) - 1  # a kernel that reads no program id has no ids to hand on
        self._tasks.labels.append(", ".join(str(i) for i in ids) or f"number {serial}")
        self._tasks.in_call = True
        return True

    def never_summed(self, *, pure: bool) -> None:
        """A dot accumulator of the running task was left as it was by a loop that did not run. pure: the loop
        does nothing with it but add products."""
        if pure:
            self._zero_trip = (self.task, self.where()[1])
        else:
            self.note("sum kept by a loop without trips", "the loop reads it too, so it is set in any case")

    def stores_nan(self, count: int) -> None:
        """NaN is stored; it comes from such an accumulator when the task had one."""
        task, line = self._zero_trip
        if task == self.task:
            self.note("zero-trip accumulator stored", f"its loop is at line {line}", count=count)

    def leave_call(self) -> None:
        self._tasks.in_call = False

    def _note_access(self, kind: str, argument: str, other: int | None, count: int) -> None:
        tasks = (self._tasks.labels[self.task],)
        if other is not None:
            tasks = (self._tasks.labels[other], *tasks)
        self.note(kind, f"argument {argument}", count=count, tasks=tasks)

    def note(
        self,
        kind: str,
        detail: str,
        *,
        count: int = 1,
        tasks: tuple[str, ...] | None = None,
        line: tuple[str, int] | None = None,
    ) -> None:
        """Add a finding at the kernel line that runs now; the first tasks are kept, lanes are counted."""
        if self._launch is None:
            return
        file, number = line or self.where()
        own = tasks if tasks is not None else (self._tasks.labels[self.task],)
        seen = self._seen.setdefault((kind, self._launch.kernel, file, number), _Seen(own, detail))
        seen.count += count
        if seen.detail.endswith(SAME_VALUE) and not detail.endswith(SAME_VALUE):
            seen.detail, seen.tasks = detail, own  # once with another value is enough

    def where(self) -> tuple[str, int]:
        """File and line of the innermost frame that runs kernel source."""
        frame = inspect.currentframe()
        while frame is not None:
            if frame.f_code.co_filename.startswith(self._roots):
                return frame.f_code.co_filename, frame.f_lineno
            frame = frame.f_back
        return ("?", 0) if self._launch is None else (str(self._launch.file), self._launch.line)

    def region_of(self, handle: Any) -> Region | None:
        """The argument that a pointer was computed from."""
        origin = getattr(handle, "origin", None)
        if origin is not None or self.memory is None:
            return origin
        data = np.asarray(handle.data)
        return self.memory.region_at(int(data.reshape(-1)[0])) if data.size == 1 else None

    @property
    def findings(self) -> list[Finding]:
        return [
            Finding(
                self._side, kind, "warning" if kind in WARNINGS else "error", kernel, file, line, seen.tasks,
                seen.detail, seen.count,
            )
            for (kind, kernel, file, line), seen in self._seen.items()
        ]  # fmt: skip


def _is_task_function(function: Any, launch: Launch) -> bool:
    """The device function that the migrator made of the launched kernel's body: named after it, in its
    module."""
    module, _, kernel = launch.kernel.partition(":")
    return function.fn.__module__ == module and function.fn.__name__.startswith(f"{kernel}_task")


def _leading_ids(function: Any, launch: Launch, arguments: tuple[Any, ...]) -> list[int]:
    """Its program ids come before the kernel's own parameters."""
    first = next((i for i, name in enumerate(function.arg_names) if name in launch.arguments), 1)
    return [_number(argument) for argument in arguments[:first]]


def _number(value: Any) -> int:
    handle = getattr(value, "handle", None)
    return int(np.asarray(handle.data).reshape(-1)[0]) if handle is not None else int(value)
