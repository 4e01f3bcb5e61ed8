"""The tool reads structure: a copy without a single familiar name gives the same facts and outcomes."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from tests.support.migrated import overlay
from tests.support.operators import run_operators
from tests.support.releases import migrated
from tests.support.shuffle import Shuffled
from tritonport.discover import Discovery, discover
from tritonport.migrate import MigrateResult
from tritonport.sources import SourceTree, resolve

VERSIONS = ("0.4.1", pytest.param("0.5.1", marks=pytest.mark.slow), "0.6.0")
ENTRY = "fla.ops.gated_delta_rule"


def renamed_tree(copy: Shuffled) -> SourceTree:
    return resolve(str(copy.root.joinpath(*copy.modules[ENTRY].split("."))))


def facts(found: Discovery, name: Callable[[str], str]) -> dict[str, Any]:
    """Per kernel everything that carries no name; name translates a kernel's `module:function`.

    What is listed apart is left out: that comes from a list of paths in the corpus.
    """
    return {
        name(kernel.name): (
            kernel.line,
            kernel.cube,
            kernel.reachable,
            sorted(
                (x.line, x.grid.form, len(x.grid.axes), len(x.grid.meta), x.reachable)
                for x in found.launches_of(kernel)
            ),
        )
        for kernel in found.kernels
    }


@pytest.mark.parametrize("version", VERSIONS)
def test_discovery_gives_the_same_facts(
    fla_tree: Callable[[str], SourceTree], shuffled: Callable[[str], Shuffled], version: str
) -> None:
    copy = shuffled(version)
    original = facts(discover(fla_tree(version)), lambda name: copy.functions.get(name, name))
    assert facts(discover(renamed_tree(copy)), str) == original


def outcomes(result: MigrateResult, name: Callable[[str], str]) -> dict[str, Any]:
    """Per kernel its outcome, its rules with their counts, and what is unresolved where."""
    return {
        name(kernel.name): (
            kernel.outcome,
            [(use.slug, use.rule_class, use.count) for use in kernel.rules],
            sorted((item.slug, item.line) for item in kernel.unresolved),
        )
        for kernel in result.record.kernels
    }


@pytest.mark.parametrize("version", VERSIONS)
def test_migration_gives_the_same_outcomes(
    fla_tree: Callable[[str], SourceTree], shuffled: Callable[[str], Shuffled], version: str
) -> None:
    copy = shuffled(version)
    original = outcomes(migrated(fla_tree(version)), lambda name: copy.functions.get(name, name))
    assert outcomes(migrated(renamed_tree(copy)), str) == original


@pytest.mark.parametrize("version", ("0.6.0", pytest.param("0.4.1", marks=pytest.mark.slow)))
def test_rules_on_tiles_give_the_same_outcomes(
    fla_tree: Callable[[str], SourceTree], shuffled: Callable[[str], Shuffled], version: str
) -> None:
    copy = shuffled(version)
    original = outcomes(migrated(fla_tree(version), "tuned"), lambda name: copy.functions.get(name, name))
    assert outcomes(migrated(renamed_tree(copy), "tuned"), str) == original


@pytest.mark.slow
@pytest.mark.parametrize("version", ("0.4.1", "0.6.0"))
def test_rules_on_tiles_compute_the_same_bits(
    fla_tree: Callable[[str], SourceTree], shuffled: Callable[[str], Shuffled], tmp_path: Path, version: str
) -> None:
    copy = shuffled(version)
    trees = {"renamed": renamed_tree(copy), "original": fla_tree(version)}
    sites = {
        name: overlay(tree, migrated(tree, "tuned").out, tmp_path / name) for name, tree in trees.items()
    }
    found = run_operators(sites["renamed"], version, copy)
    assert found == run_operators(sites["original"], version)
    assert len(found) >= 3


@pytest.mark.slow
@pytest.mark.parametrize("version", ("0.4.1", "0.6.0"))
def test_migrated_copy_computes_the_bits_of_the_original(
    fla_tree: Callable[[str], SourceTree], shuffled: Callable[[str], Shuffled], tmp_path: Path, version: str
) -> None:
    copy = shuffled(version)
    tree = renamed_tree(copy)
    site = overlay(tree, migrated(tree).out, tmp_path / "site")
    assert run_operators(site, version, copy) == run_operators(fla_tree(version).root, version)
