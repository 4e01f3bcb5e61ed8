"""Migrated kernels of real releases, broken the way real ports broke: the tiers together kill every mutant.

A sample by default, everything by `pytest tests/mutation --full`. The table at the end of the run names the tier
that killed each mutant, and every survivor. Where one survives, a tier or a case has to be mended.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Callable, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, replace
from itertools import repeat
from pathlib import Path

import pytest

from tests.mutation.campaign import Campaign, Fate
from tests.mutation.faults import FAULTS, Fault
from tests.mutation.forks import Zygote
from tests.mutation.tree import MigratedTree
from tests.support.migrated import migrate
from tests.support.releases import migrated
from tritonport.migrate import MigrateOptions, MigrateResult
from tritonport.sources import SourceTree
from tritonport.verify.cases import CaseSet, case_set_for
from tritonport.verify.output import targets_of

FlaTree = Callable[[str], SourceTree]
Table = list[tuple[str, ...]]


@dataclass(frozen=True)
class Plan:
    """One migrated release and the cases that its mutants are stated in. most: mutants of each fault."""

    release: str
    profile: str
    cases: tuple[str, ...]
    most: int
    faults: tuple[str, ...] = ()

    @property
    def name(self) -> str:
        return f"{self.release} {self.profile}"

    def chosen(self) -> tuple[Fault, ...]:
        return tuple(f for f in FAULTS if not self.faults or f.name in self.faults)


SAMPLE = Plan(
    "0.6.0",
    "baseline",
    ("chunk-grouped-varlen-fp32",),
    1,
    (
        "length carried through the loop",
        "pointers advanced across tasks",
        "accumulator not zeroed per task",
        "batch's chunk index used in the sequence",
        "wrong head map for grouped values",
        "strides swapped",
        "mask of a store removed",
        "tail not written",
        "row numbers compared in fp32",
        "left operand of a product read again",
    ),
)
LAYOUTS = ("result not turned back", "input not turned", "gate base wrong for several batch entries")
EVERYTHING = (
    Plan("0.6.0", "baseline", ("chunk-batch-groups-tails", "chunk-grouped-varlen-fp32"), 3),
    Plan("0.6.0", "tuned", ("chunk-batch-groups-tails", "chunk-grouped-varlen-fp32"), 3, LAYOUTS),
    Plan("0.4.1", "baseline", ("chunk-batch-heads-tails", "chunk-varlen"), 2),
)  # fmt: skip
LEAST, LEAST_KERNELS = 40, 2


def migrated_tree(plan: Plan, fla_tree: FlaTree, folder: Path) -> MigratedTree:
    source = fla_tree(plan.release)
    result = _migrated(plan, source, folder / "out")
    return MigratedTree(plan.name, source, result.out, targets_of(result.record.kernels))


def run(plan: Plan, tree: MigratedTree, folder: Path) -> list[Fate]:
    """Show that the unmutated tree passes, and put every mutant through the tiers."""
    assert tree.source.package is not None
    with Zygote(folder, tree.source.package) as zygote:
        campaign = Campaign(tree, _cases(tree.source, plan.cases), folder / "runs", zygote)
        problems = campaign.prepare()
        assert problems == [], "the unmutated tree has to pass"
        mutants = list(campaign.mutants(plan.chosen(), plan.most))
        return list(campaign.run(mutants))


def _migrated(plan: Plan, source: SourceTree, out: Path) -> MigrateResult:
    """The result that other tests of this run use too, where the profile is the default one."""
    if plan.profile == MigrateOptions().profile:
        return migrated(source)
    return migrate(source, out, profile=plan.profile)


def _cases(source: SourceTree, ids: Sequence[str]) -> CaseSet:
    everything = case_set_for(source, full=True)
    assert everything is not None
    named = {case.id: case for case in everything.cases}
    return replace(everything, cases=tuple(named[name] for name in ids))


def judge(fates: Sequence[Fate]) -> None:
    broken = [fate.row() for fate in fates if fate.broken]
    assert broken == [], "a mutant that is no program any more shows nothing"
    survivors = [(*fate.row()[1:5], fate.mutant.change) for fate in fates if fate.tier is None]
    assert survivors == []


def test_a_sample_of_mutants_is_killed(fla_tree: FlaTree, tmp_path: Path, table: Table) -> None:
    fates = run(SAMPLE, migrated_tree(SAMPLE, fla_tree, tmp_path), tmp_path)
    table += [fate.row() for fate in fates]
    judge(fates)
    assert sorted(fate.mutant.fault for fate in fates) == sorted(SAMPLE.faults)
    assert {fate.tier for fate in fates} == {"interpret", "hazard"}, (
        "each tier kills what the other cannot see"
    )


@pytest.mark.slow
def test_every_mutant_is_killed_and_every_fault_has_several(
    fla_tree: FlaTree, tmp_path: Path, table: Table
) -> None:
    folders = [tmp_path / plan.release / plan.profile for plan in EVERYTHING]
    for folder in folders:
        folder.mkdir(parents=True)
    trees = list(map(migrated_tree, EVERYTHING, repeat(fla_tree), folders))
    with ThreadPoolExecutor(len(EVERYTHING)) as pool:
        found = list(pool.map(run, EVERYTHING, trees, folders))
    fates = [fate for fates in found for fate in fates]
    table += [fate.row() for fate in fates]
    judge(fates)
    assert len(fates) >= LEAST
    kernels: dict[str, list[str]] = defaultdict(list)
    for fate in fates:
        kernels[fate.mutant.fault].append(fate.mutant.kernel)
    for fault in FAULTS:
        assert len(kernels[fault.name]) >= fault.least, fault.name
        assert len(set(kernels[fault.name])) >= min(fault.least, LEAST_KERNELS), fault.name
