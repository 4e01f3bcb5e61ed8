"""Runs every unit on a pair of worker processes, original first, and turns their answers into case
results."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

from tritonport.sources.tree import SourceTree
from tritonport.verify.cases import CaseSet, Script, Unit
from tritonport.verify.device.settings import DeviceSetup
from tritonport.verify.messages import Setup, pack_unit
from tritonport.verify.model import (
    CaseResult,
    Check,
    Finding,
    HostResult,
    KernelTarget,
    KernelTime,
    LaunchCount,
)
from tritonport.verify.pool import Worker, WorkerError

WHOLE_RUN_CORES = (2, 3, 1, 4096)
"""Core counts that the whole-operator runs go through in turn; each launching function meets all of them."""

HAZARD_CORES = (2, 3)
"""Under the traps: several tasks on a core, and more than one core."""


@dataclass(frozen=True, slots=True)
class Job:
    """What every slot needs: the two setups and the units with their core counts."""

    original: Setup
    migrated: Setup
    units: tuple[tuple[Unit, int], ...]

    @classmethod
    def make(
        cls, source: SourceTree, out: Path, targets: Sequence[KernelTarget], cases: CaseSet, *, hazard: bool
    ) -> Job:
        root, folder = str(source.root.resolve()), str(out.resolve())
        inside = source.root / source.package if source.package else source.entry_path
        watched = (str(inside.resolve()),)
        exact = {target.name: target.exact for target in targets}
        cores = HAZARD_CORES if hazard else WHOLE_RUN_CORES
        units = tuple((unit, cores[n % len(cores)]) for n, unit in enumerate(cases.units))
        return cls(
            Setup((root,), watched, None, source.version, {}, cases, hazard),
            Setup((folder, root), watched, folder, source.version, exact, cases, hazard),
            units,
        )

    def on(self, device: DeviceSetup, processors: int) -> Job:
        """The same on a device, where whole operators start at most `processors` programs and products of fp32
        operands run on matrix units."""
        cases = self.original.cases
        if device.kind != "interpreter":
            cases = replace(cases, tolerances=replace(cases.tolerances, tf32=True))
        original = replace(self.original, device=device, cases=cases)
        migrated = replace(self.migrated, device=device, cases=cases)
        return Job(original, migrated, tuple((unit, processors) for unit, _ in self.units))


def unit_folder(folder: Path, index: int) -> Path:
    return folder / f"unit-{index:04d}"


class Slot:
    """One pair of workers. The two take turns, so that a slot keeps one core busy."""

    def __init__(self, job: Job, folder: Path, logs: Path, number: int) -> None:
        self._job, self._folder = job, folder
        self._original = Worker(job.original, logs / f"original-{number}.log")
        self._migrated = Worker(job.migrated, logs / f"migrated-{number}.log")

    def run(self, index: int) -> CaseResult:
        """Both sides of one unit."""
        return self.second(index, self.first(index))

    def first(self, index: int) -> dict[str, Any]:
        """The original's side: its answer, or `skipped` or `error` with the reason."""
        folder = unit_folder(self._folder, index)
        folder.mkdir()
        try:
            return self._original.ask({"unit": pack_unit(self._job.units[index][0]), "folder": str(folder)})
        except WorkerError as error:
            return {"error": str(error)}

    def second(self, index: int, original: Mapping[str, Any]) -> CaseResult:
        """The migrated side, from the files of the first."""
        unit, cores = self._job.units[index]
        operator = "script" if isinstance(unit, Script) else unit.operator
        if "skipped" in original:
            return CaseResult(unit.id, operator, "skipped", original["skipped"])
        if "error" in original:
            return CaseResult(unit.id, operator, "not-run", f"the original fails: {original['error']}")
        return self._second(unit, operator, cores, unit_folder(self._folder, index), original)

    def _second(
        self, unit: Unit, operator: str, cores: int, folder: Path, original: Mapping[str, Any]
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
        _times(original.get("times", {}), answer.get("times", {})),
        dict(answer.get("configs", {})),
    )


def _times(before: Mapping[str, float], after: Mapping[str, float]) -> tuple[KernelTime, ...]:
    return tuple(KernelTime(kernel, before.get(kernel), after[kernel]) for kernel in sorted(after))


def _finding(data: Mapping[str, Any]) -> Finding:
    fields: dict[str, Any] = {**data, "tasks": tuple(data["tasks"])}
    return Finding(**fields)


def _counts(launches: Mapping[str, Any]) -> dict[str, LaunchCount]:
    return {name: LaunchCount(**count) for name, count in launches.items()}
