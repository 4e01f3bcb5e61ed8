"""Times kernels by marks in the device's stream around each launch."""

from __future__ import annotations

from collections.abc import Callable
from statistics import median
from typing import Any

from tritonport.verify.child.device.backends import Backend
from tritonport.verify.child.launches import Launch, listen, unlisten

WHOLE = "whole operator"


class Stopwatch:
    """Context manager: milliseconds of all launches inside it, summed by kernel."""

    def __init__(self, backend: Backend) -> None:
        self._backend = backend
        self._marks: list[tuple[str, Any, Any]] = []
        self._start: Any = None

    def before(self, launch: Launch) -> None:
        self._start = self._backend.mark()

    def after(self, launch: Launch) -> None:
        self._marks.append((launch.kernel, self._start, self._backend.mark()))

    def __enter__(self) -> Stopwatch:
        listen(self)
        return self

    def __exit__(self, *_exc: object) -> None:
        unlisten(self)

    def milliseconds(self) -> dict[str, float]:
        """To be asked after the device has been synchronized."""
        total: dict[str, float] = {}
        for kernel, start, stop in self._marks:
            total[kernel] = total.get(kernel, 0.0) + self._backend.between(start, stop)
        return total


def times_of(backend: Backend, repeats: int, action: Callable[[], object]) -> dict[str, float]:
    """The median over the repeats, by kernel and for the whole action; nothing for no repeats.

    The action has run before, so that neither compilation nor tuning is in it.
    """
    runs = [_once(backend, action) for _ in range(repeats)]
    return {kernel: round(median(run[kernel] for run in runs), 5) for kernel in (runs[0] if runs else {})}


def _once(backend: Backend, action: Callable[[], object]) -> dict[str, float]:
    with Stopwatch(backend) as watch:
        backend.synchronize()
        backend.queue_up()
        start = backend.mark()
        action()
        stop = backend.mark()
        backend.synchronize()
    return {**watch.milliseconds(), WHOLE: backend.between(start, stop)}
