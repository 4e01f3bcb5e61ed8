"""Works through units with several slots at a time, the longest unit first, and stops cleanly on Ctrl-C."""

from __future__ import annotations

import queue
import threading
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import TypeVar

from tritonport.declared import Declared
from tritonport.verify.cases import Script, Unit
from tritonport.verify.slots import Job, Slot

Progress = Callable[[str, int, int], None]
"""Called with the unit just finished, how many are done, and how many there are."""

T = TypeVar("T")


def run_each(
    job: Job, step: Callable[[Slot, int], T], folder: Path, logs: Path, jobs: int, progress: Progress
) -> list[T]:
    """step(slot, index) for every unit, `jobs` at a time; the results in the order of the units.

    folder: where units keep their files. logs: where workers write what the code under test prints.
    """
    pending: queue.SimpleQueue[int] = queue.SimpleQueue()
    for index in _longest_first([unit for unit, _ in job.units]):
        pending.put(index)
    results: dict[int, T] = {}
    lock = threading.Lock()

    def work(slot: Slot) -> None:
        index = pending.get_nowait()
        result = step(slot, index)
        with lock:
            results[index] = result
            progress(job.units[index][0].id, len(results), len(job.units))

    slots = [Slot(job, folder, logs, n) for n in range(min(jobs, len(job.units)))]
    _drive(slots, work)
    return [results[index] for index in sorted(results)]


def _drive(slots: Sequence[Slot], work: Callable[[Slot], None]) -> None:
    """One thread per slot until the queue is empty, one of them fails, or the user interrupts."""
    stop = threading.Event()
    failures: list[BaseException] = []

    def loop(slot: Slot) -> None:
        try:
            while not stop.is_set():
                work(slot)
        except queue.Empty:
            pass
        except BaseException as error:
            failures.append(error)
            stop.set()

    threads = [threading.Thread(target=loop, args=(slot,), daemon=True) for slot in slots]
    try:
        for thread in threads:
            thread.start()
        for thread in threads:
            while thread.is_alive():
                thread.join(0.2)  # wakes for Ctrl-C
    finally:
        stop.set()
        for slot in slots:
            slot.close()
    if failures:
        raise failures[0]


def _longest_first(units: Sequence[Unit]) -> list[int]:
    def cost(index: int) -> int:
        unit = units[index]
        if isinstance(unit, Script):
            return 0
        if isinstance(unit, Declared):
            return unit.cost
        return unit.batch * unit.length * (unit.value_heads or unit.heads)

    return sorted(range(len(units)), key=cost, reverse=True)
