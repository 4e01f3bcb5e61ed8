"""Puts mutants through the tiers, one after another, until one kills them.

The originals run once. Every mutant is a copy of the migrated folder with one file changed; the product's own
migrated side runs the stated case from it and the product's own verdict says whether the kernel still passes.
"""

from __future__ import annotations

import os
import shutil
from collections.abc import Iterable, Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any

from tests.mutation.faults import FAULTS, Fault, Place
from tests.mutation.forks import CORES, Forked, Zygote
from tests.mutation.tree import MigratedTree, TaskKernel, replaced
from tritonport.verify.cases import Case, CaseSet
from tritonport.verify.messages import Setup
from tritonport.verify.model import CaseResult, KernelTarget
from tritonport.verify.slots import Job, Slot
from tritonport.verify.verdict import judge

TIERS = ("interpret", "hazard")


@dataclass(frozen=True)
class Mutant:
    """case: the stated case, in which the fault changes what the kernel does. change: the changed lines."""

    fault: str
    kernel: str
    case: str
    file: str
    text: str
    change: str


@dataclass(frozen=True)
class Fate:
    """tier: the tier that killed a mutant, None for a survivor. why: the first reason that it gave."""

    mutant: Mutant
    tree: str
    tier: str | None
    why: str

    @property
    def broken(self) -> bool:
        return self.why.startswith("raises ") and any(name in self.why for name in BROKEN)

    def row(self) -> tuple[str, ...]:
        kernel = self.mutant.kernel.rpartition(":")[2]
        return (self.tier or "SURVIVED", self.mutant.fault, self.tree, kernel, self.mutant.case, self.why)


class _ForkingSlot(Slot):
    """The product's pair of workers, each unit in a fork."""

    def __init__(self, job: Job, folder: Path, zygote: Zygote) -> None:
        super().__init__(job, folder, folder, 0)
        self._original = Forked(zygote, job.original)  # type: ignore[assignment]
        self._migrated = Forked(zygote, job.migrated)  # type: ignore[assignment]

    def of(self, out: Path) -> _ForkingSlot:
        """The same with another migrated folder."""
        job = replace(self._job, migrated=_moved(self._job.migrated, out))
        other = _ForkingSlot.__new__(_ForkingSlot)
        other.__dict__.update(self.__dict__)
        other._job, other._migrated = job, Forked(self._migrated.zygote, job.migrated)  # type: ignore[attr-defined,assignment]
        return other


def _moved(setup: Setup, out: Path) -> Setup:
    folder = str(out.resolve())
    return replace(setup, paths=(folder, *setup.paths[1:]), out=folder)


@dataclass
class Campaign:
    """One migrated tree and the cases that its mutants are stated in. Call `prepare` first."""

    tree: MigratedTree
    cases: CaseSet
    folder: Path
    zygote: Zygote
    originals: dict[str, list[dict[str, Any]]] = field(default_factory=dict)
    watched: dict[str, dict[str, Any]] = field(default_factory=dict)
    """By case, what the unmutated tree ran: constants of each kernel's launches, and lines of each file."""
    _slots: dict[str, _ForkingSlot] = field(default_factory=dict)

    def prepare(self) -> list[str]:
        """Run every case of the originals and of the unmutated tree. Returns what is wrong without a mutant."""
        for tier in TIERS:
            folder = self.folder / tier
            folder.mkdir(parents=True)
            made = Job.make(
                self.tree.source, self.tree.out, self.tree.targets, self.cases, hazard=tier == "hazard"
            )
            self._slots[tier] = _ForkingSlot(made, folder, self.zygote)
        self._warm()
        with ThreadPoolExecutor(CORES) as pool:
            for tier in TIERS:
                first = self._slots[tier].first
                self.originals[tier] = list(pool.map(first, range(len(self.cases.cases))))
            return [
                problem
                for found in pool.map(self._control, range(len(self.cases.cases)))
                for problem in found
            ]

    def _warm(self) -> None:
        """What the first fork imported, the zygote imports for all that follow."""
        setup = self._slots["interpret"]._job.original
        answer = self.zygote.ask(setup, {"unit": None, "folder": str(self.folder)})
        self.zygote.warm(_imports(answer, self.tree.source.package or ""))

    def _control(self, index: int) -> list[str]:
        """The unmutated tree has to pass, or a kill would show nothing. Notes the launches' constants."""
        problems: list[str] = []
        for tier in TIERS:
            case = self.cases.cases[index]
            original = self.originals[tier][index]
            slot = self._slots[tier].of(self.tree.out)
            if tier == TIERS[0]:
                slot._migrated = _Watching(slot._migrated, self.watched.setdefault(case.id, {}))  # type: ignore[arg-type,assignment]
            result = slot.second(index, _without_hosts(original))
            problems += [f"{tier}: {case.id}: {result.why}"] if result.outcome != "pass" else []
            problems += [
                f"{tier}: {case.id}: {f}"
                for f in result.findings
                if f.severity == "error" and f.side == "migrated"
            ]
        return problems

    def mutants(self, faults: Iterable[Fault], most: int) -> Iterator[Mutant]:
        """Up to `most` mutants of each fault, in different kernels before two in one; each in the first case that
        shows it."""
        for fault in faults:
            found: list[Mutant] = []
            left = [self._possible(fault, kernel) for kernel in self.tree.kernels]
            while left and len(found) < most:
                left = [source for source in left if _draw(source, found, most)]
            yield from found

    def _possible(self, fault: Fault, kernel: TaskKernel) -> Iterator[Mutant]:
        for place in fault.places(kernel):
            for case in self.cases.cases:
                if fault.needs(case) and place.needs(case) and self._runs(case, kernel, place):
                    yield _mutant(fault, kernel, case, place)
                    break

    def _runs(self, case: Case, kernel: TaskKernel, place: Place) -> bool:
        """Whether the case launches the kernel with the constants under which the place is evaluated, and, for
        host code, whether its line ran."""
        watched = self.watched[case.id]
        launched = watched["constants"].get(kernel.key, [])
        if place.host and kernel.line(place.edits[0][0]) not in watched["lines"].get(kernel.file, ()):
            return False
        return any(
            place.launches(c) and all(_holds(t, c) is wanted for t, wanted in place.tests.items())
            for c in launched
        )

    def run(self, mutants: Sequence[Mutant]) -> Iterator[Fate]:
        """The fates, in the order of the mutants; one at a time for each core."""
        with ThreadPoolExecutor(CORES) as pool:
            yield from pool.map(self._fate, mutants, range(len(mutants)))

    def _fate(self, mutant: Mutant, number: int) -> Fate:
        out = self.folder / f"mutant-{number:03d}"
        shutil.copytree(self.tree.out, out, copy_function=os.link)
        target = out / mutant.file
        target.unlink()
        target.write_text(mutant.text, encoding="utf-8")
        index = next(i for i, case in enumerate(self.cases.cases) if case.id == mutant.case)
        for tier in TIERS:
            result = self._result(tier, index, mutant.kernel, out)
            verdict = judge(KernelTarget(mutant.kernel), [result], out.resolve())
            if verdict.result == "fail":
                return Fate(mutant, self.tree.name, tier, _short(_died(result) or verdict.reasons[0]))
        return Fate(mutant, self.tree.name, None, "")

    def _result(self, tier: str, index: int, kernel: str, out: Path) -> CaseResult:
        """The case on the mutant; of the launching functions only those that launch the mutated kernel."""
        original = self.originals[tier][index]
        own = [host for host in original["hosts"] if kernel in host["kernels"]]
        return self._slots[tier].of(out).second(index, {**original, "hosts": own})


def _draw(source: Iterator[Mutant], found: list[Mutant], most: int) -> bool:
    """Take one mutant of a kernel, where more are wanted and it has another."""
    mutant = next(source, None) if len(found) < most else None
    if mutant is not None:
        found.append(mutant)
    return mutant is not None


class _Watching:
    """A forked worker that also hands over the constants of its launches and the lines that ran."""

    def __init__(self, worker: Forked, kept: dict[str, Any]) -> None:
        self._worker, self._kept = worker, kept

    def ask(self, request: dict[str, Any]) -> dict[str, Any]:
        answer = self._worker.ask({**request, "watch": True})
        self._kept.update(constants=answer.get("constants", {}), lines=answer.get("lines", {}))
        return answer


def _without_hosts(original: dict[str, Any]) -> dict[str, Any]:
    return {**original, "hosts": []} if "hosts" in original else original


def _imports(answer: dict[str, Any], package: str) -> list[str]:
    return [name for name in answer["modules"] if name.partition(".")[0] != package]


def _holds(test: str, constants: dict[str, Any]) -> bool | None:
    """Outcome of a constexpr test, None where the launch does not tell."""
    try:
        return bool(eval(test, {"__builtins__": {}}, constants))  # a test of the kernel's own source
    except Exception:
        return None


def _mutant(fault: Fault, kernel: TaskKernel, case: Case, place: Place) -> Mutant:
    before, after = kernel.tree.code, replaced(kernel.tree, dict(place.edits)).code
    compile(after, kernel.file, "exec", dont_inherit=True)
    assert before != after, f"{fault.name} changes nothing in {kernel.key}"
    return Mutant(fault.name, kernel.key, case.id, kernel.file, after, _change(before, after))


def _change(before: str, after: str) -> str:
    import difflib

    lines = difflib.unified_diff(before.splitlines(), after.splitlines(), n=0, lineterm="")
    return "\n".join(line for line in list(lines)[2:] if not line.startswith("@@"))


BROKEN = ("NameError", "SyntaxError", "UnboundLocalError", "IndentationError")
"""Errors of a mutant that is no program any more: the suite's own mistake, and no proof of anything."""


def _died(result: CaseResult) -> str | None:
    """What ended a mutant that did not get as far as a wrong number."""
    checks = (*result.checks, *(c for host in result.hosts for c in host.checks))
    raised = next((c.why for c in checks if c.why is not None and c.why.startswith("raises ")), None)
    return raised or (result.why if not result.after else None)


def _short(reason: str) -> str:
    return reason if len(reason) < 160 else reason[:157] + "..."


__all__ = ["FAULTS", "Campaign", "Fate", "Mutant"]
