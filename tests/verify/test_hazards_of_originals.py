"""Kernels whose originals are right on a GPU: which of them are a hazard on the target, before and after."""

from __future__ import annotations

import shutil
from functools import cache
from pathlib import Path, PurePosixPath

import pytest

from tests.support.migrated import migrate
from tritonport.profiles import load_profile
from tritonport.sources.tree import SourceTree
from tritonport.verify.cases import CaseSet, Script
from tritonport.verify.model import Finding, KernelTarget, TierReport
from tritonport.verify.tier import run_hazard, run_interpret

HERE = Path(__file__).with_name("hazards")
CLEAN = ("moving_pointers", "rows_of_sequences", "second_sum")
HARMLESS = "rows_reach_over"
KINDS = {
    "operand_read_twice": "left operand of tl.dot read again",
    "empty_sums": "zero-trip accumulator stored",
    "guarded_neighbour": "load outside the argument's view",
}
MENDED_BY = {
    "operand_read_twice": "dot-operand-reuse",
    "empty_sums": "zero-trip",
    "guarded_neighbour": "guarded-load",
}
"""The rule of the baseline that takes each hazard away."""


class Site:
    """The modules, migrated by some rules, and what the tiers say of them."""

    def __init__(self, folder: Path, rules: tuple[str, ...]) -> None:
        self.rules = rules
        self.root, self.out = folder / "src", folder / "out"
        shutil.copytree(HERE, self.root / "hazards", ignore=shutil.ignore_patterns("__pycache__"))
        (self.root / "hazards" / "__init__.py").write_text("")
        self.source = SourceTree(self.root, "hazards", PurePosixPath("hazards"))
        record = migrate(self.source, self.out, rules=rules).record
        names = [path.stem for path in sorted(HERE.glob("*.py"))]
        files = [self.root / "hazards" / f"{name}.py" for name in names]
        self.cases = CaseSet(scripts=tuple(Script(f.stem, f, f"hazards.{f.stem}") for f in files))
        self.targets = {
            k.name.partition(":")[0].rpartition(".")[2]: KernelTarget(k.name) for k in record.kernels
        }

    @cache  # noqa: B019  # lives as long as the module's tests
    def report(self, tier: str) -> TierReport:
        run = {"interpret": run_interpret, "hazard": run_hazard}[tier]
        return run(
            source=self.source,
            out=self.out,
            kernels=tuple(self.targets.values()),
            cases=self.cases,
            jobs=2,
            progress=lambda *_: None,
        )

    def result(self, tier: str, name: str) -> str:
        verdict = self.report(tier).kernel(self.targets[name].name)
        assert verdict is not None
        return verdict.result

    def errors(self, name: str, side: str) -> list[Finding]:
        case = next(c for c in self.report("hazard").cases if c.id == name)
        return [f for f in case.findings if f.side == side and f.severity == "error"]


@pytest.fixture(scope="module", params=["baseline", "without"])
def site(request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory) -> Site:
    """Migrated by the baseline, and by the baseline without the rules that mend the hazards."""
    rules = load_profile("baseline").rules
    if request.param == "without":
        rules = tuple(rule for rule in rules if rule not in MENDED_BY.values())
    return Site(tmp_path_factory.mktemp("hazards"), rules)


def test_the_mending_rules_are_in_the_baseline() -> None:
    assert set(MENDED_BY.values()) <= set(load_profile("baseline").rules)


@pytest.mark.parametrize("name", sorted({*CLEAN, *KINDS, HARMLESS}))
def test_the_numbers_are_the_originals(site: Site, name: str) -> None:
    assert site.result("interpret", name) == "pass"


@pytest.mark.parametrize("name", CLEAN)
def test_no_hazard_before_or_after(site: Site, name: str) -> None:
    assert not site.errors(name, "original")
    assert not site.errors(name, "migrated")
    assert site.result("hazard", name) == "pass"


def test_what_upstreams_tasks_write_twice_alike_is_a_warning(site: Site) -> None:
    case = next(c for c in site.report("hazard").cases if c.id == HARMLESS)
    found = {
        f.severity for f in case.findings if f.kind == "two tasks write one address" and f.side == "migrated"
    }
    assert found == {"warning"}
    assert site.result("hazard", HARMLESS) == "pass"


@pytest.mark.parametrize(("name", "kind"), KINDS.items())
def test_the_originals_hazard_is_named(site: Site, name: str, kind: str) -> None:
    found = [f for f in site.errors(name, "original") if f.kind == kind]
    assert found, site.errors(name, "original")
    assert Path(found[0].file).name == f"{name}.py"
    assert found[0].line > 1
    assert found[0].tasks


@pytest.mark.parametrize("name", KINDS)
def test_it_is_gone_with_the_rule_and_fails_the_tier_without(site: Site, name: str) -> None:
    if MENDED_BY[name] in site.rules:
        assert not site.errors(name, "migrated")
        assert site.result("hazard", name) == "pass"
    else:
        assert {f.kind for f in site.errors(name, "migrated")} == {KINDS[name]}
        assert site.result("hazard", name) == "fail"
