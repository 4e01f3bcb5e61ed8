"""Runs every unit on a pair of worker processes, original first, and turns their answers into case
results."""

from __future__ import annotations

import queue
import tempfile
import threading
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from tritonport.sources.tree import SourceTree
from tritonport.verify.cases import Case, CaseSet, Script
from tritonport.verify.messages import Setup, pack_unit
from tritonport.verify.model import CaseResult, Check, Finding, HostResult, KernelTarget, LaunchCount
from tritonport.verify.pool import Worker, WorkerError

Progress = Callable[[str, int, int], None]
"""Called with the unit just finished, how many are done, and how many there are."""

WHOLE_RUN_CORES = (2, 3, 1, 4096)
"""Core counts that the whole-operator runs go through in turn; each launching function meets all of them."""

HAZARD_CORES = (2, 3)
"""Under the traps: several tasks on a core, and more than one core."""


@dataclass(frozen=True, slots=True)
class Job:
    """What every slot needs: the two setups and the units with their core counts."""

    original: Setup
    migrated: Setup
    units: tuple[tuple[Case | Script, int], ...]

    @classmethod
    def make(
        cls, source: SourceTree, out: Path, targets: Sequence[KernelTarget], cases: CaseSet, *, hazard: bool
    ) -> Job:
        root, folder = str(source.root.resolve()), str(out.resolve())
        inside = source.root / source.package if source.package else source.entry_path
        watched = (str(inside.resolve()),)
        exact = {target.name: target.exact for target in targets}
        everything: tuple[Case | Script, ...] = (*cases.cases, *cases.scripts)
        cores = HAZARD_CORES if hazard else WHOLE_RUN_CORES
        units = tuple((unit, cores[n % len(cores)]) for n, unit in enumerate(everything))
        return cls(
            Setup((root,), watched, None, source.version, {}, cases, hazard),
            Setup((folder, root), watched, folder, source.version, exact, cases, hazard),
            units,
        )


def run_all(job: Job, jobs: int, progress: Progress) -> tuple[CaseResult, ...]:
    """Every unit, `jobs` at a time, each slot with a worker per side; in the order of the units."""
    pending: queue.SimpleQueue[int] = queue.SimpleQueue()
    for index in _longest_first(job.units):
        pending.put(index)
    results: dict[int, CaseResult] = {}
    lock = threading.Lock()

    def report(index: int, result: CaseResult) -> None:
        with lock:
            results[index] = result
            progress(result.id, len(results), len(job.units))

    with tempfile.TemporaryDirectory(prefix="tritonport-verify-") as scratch:
        slots = [_Slot(job, Path(scratch), n) for n in range(min(jobs, len(job.units)))]
        _work(slots, pending, report)
    return tuple(results[index] for index in sorted(results))


def _work(
    slots: Sequence[_Slot], pending: queue.SimpleQueue[int], report: Callable[[int, CaseResult], None]
) -> None:
    stop = threading.Event()
    failures: list[BaseException] = []

    def loop(slot: _Slot) -> None:
        try:
            while not stop.is_set():
                index = pending.get_nowait()
                report(index, slot.run(index))
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


def _longest_first(units: Sequence[tuple[Case | Script, int]]) -> list[int]:
    def cost(index: int) -> int:
        unit = units[index][0]
        if isinstance(unit, Script):
            return 0
        return unit.batch * unit.length * (unit.value_heads or unit.heads)

    return sorted(range(len(units)), key=cost, reverse=True)


class _Slot:
    """One pair of workers. The two take turns, so that a slot keeps one core busy."""

    def __init__(self, job: Job, scratch: Path, number: int) -> None:
        self._job, self._scratch = job, scratch
        self._original = Worker(job.original, scratch / f"original-{number}.log")
        self._migrated = Worker(job.migrated, scratch / f"migrated-{number}.log")

    def run(self, index: int) -> CaseResult:
        unit, cores = self._job.units[index]
        operator = unit.operator if isinstance(unit, Case) else "script"
        folder = self._scratch / f"unit-{index:04d}"
        folder.mkdir()
        try:
            original = self._original.ask({"unit": pack_unit(unit), "folder": str(folder)})
        except WorkerError as error:
            original = {"error": str(error)}
        if "skipped" in original:
            return CaseResult(unit.id, operator, "skipped", original["skipped"])
        if "error" in original:
            return CaseResult(unit.id, operator, "not-run", f"the original fails: {original['error']}")
        return self._second(unit, operator, cores, folder, original)

    def _second(
        self, unit: Case | Script, operator: str, cores: int, folder: Path, original: Mapping[str, Any]
    ) -> CaseResult:
        request = {"unit": pack_unit(unit), "folder": str(folder), "original": original, "cores": cores}
        try:
            answer = self._migrated.ask(request)
        except WorkerError as error:
            answer = {"error": str(error)}
        before = _counts(original["launches"])
        if problem := answer.get("error") or answer.get("skipped"):
            why = f"the migrated code fails: {problem}"
            check = Check("operator", "original", False, False, why=why)
            return CaseResult(unit.id, operator, "fail", why, cores, (check,), (), before)
        return _result(unit.id, operator, original, answer, before)

    def close(self) -> None:
        self._original.close()
        self._migrated.close()


def _result(
    name: str,
    operator: str,
    original: Mapping[str, Any],
    answer: Mapping[str, Any],
    before: dict[str, LaunchCount],
) -> CaseResult:
    checks = tuple(Check(**check) for check in answer["checks"])
    hosts = [
        HostResult(
            h["function"], tuple(h["kernels"]), tuple(h["cores"]), tuple(Check(**c) for c in h["checks"])
        )
        for h in answer["hosts"]
    ]
    hosts += [
        HostResult(
            h["function"], tuple(h["kernels"]), why=h["why_not"] or "the same call as in an earlier case"
        )
        for h in original["hosts"]
        if "file" not in h
    ]
    ok = all(check.ok for check in checks) and all(host.ok for host in hosts)
    return CaseResult(
        name,
        operator,
        "pass" if ok else "fail",
        None if ok else "numbers differ",
        answer["cores"],
        checks,
        tuple(hosts),
        before,
        _counts(answer["launches"]),
        round(original["seconds"] + answer["seconds"], 3),
        tuple(_finding(f) for f in (*original.get("findings", ()), *answer.get("findings", ()))),
    )


def _finding(data: Mapping[str, Any]) -> Finding:
    fields: dict[str, Any] = {**data, "tasks": tuple(data["tasks"])}
    return Finding(**fields)


def _counts(launches: Mapping[str, Any]) -> dict[str, LaunchCount]:
    return {name: LaunchCount(**count) for name, count in launches.items()}
