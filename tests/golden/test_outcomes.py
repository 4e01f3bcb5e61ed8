"""What the migration makes of each release, against what running the originals showed."""

from __future__ import annotations

import ast
from collections.abc import Callable
from pathlib import Path

import pytest

from tests.golden.launched import RELEASES, launched, launched_kernels
from tests.support.migrated import by_name
from tests.support.releases import migrated
from tritonport.record import KernelRecord
from tritonport.sources import SourceTree

PROMISED = ("0.4.1", "0.5.1", "0.6.0")
"""Releases of which every launched kernel must be converted; the others must at least be honest."""
promised = pytest.mark.parametrize("version", PROMISED)
FlaTree = Callable[[str], SourceTree]


@promised
def test_every_launched_kernel_is_converted_and_none_is_missing(fla_tree: FlaTree, version: str) -> None:
    result = migrated(fla_tree(version))
    converted = {kernel.name for kernel in result.record.kernels if kernel.outcome == "converted"}
    assert launched_kernels(version) <= converted
    assert result.exit_code == 0


@promised
def test_every_launched_kernel_runs_as_a_task_loop(fla_tree: FlaTree, version: str) -> None:
    records = by_name(migrated(fla_tree(version)))
    for name in launched_kernels(version):
        assert "grid-collapse" in {use.slug for use in records[name].rules}, name
        assert records[name].grid_after


@promised
def test_cores_are_those_of_the_unit_that_the_run_used(fla_tree: FlaTree, version: str) -> None:
    records = by_name(migrated(fla_tree(version)))
    multiplies = {launch["kernel"]: launch["dot"] for launch in launched(version)["launches"]}
    for name in launched_kernels(version):
        assert ("cube" in (records[name].grid_after or "")) == multiplies[name], name


@promised
def test_kernels_with_an_early_return_are_rewritten_by_that_rule(fla_tree: FlaTree, version: str) -> None:
    tree = fla_tree(version)
    records = by_name(migrated(tree))
    for name in launched_kernels(version):
        used = "early-return" in {use.slug for use in records[name].rules}
        assert used == _returns(tree, records[name]), name


def _returns(tree: SourceTree, record: KernelRecord) -> bool:
    """Whether a kernel's source holds a return statement."""
    function = record.name.partition(":")[2]
    nodes = ast.walk(ast.parse((tree.root / record.file).read_text(encoding="utf-8")))
    kernel = next(n for n in nodes if isinstance(n, ast.FunctionDef) and n.name == function)
    return any(isinstance(node, ast.Return) for node in ast.walk(kernel))


@pytest.mark.slow
@pytest.mark.parametrize("version", [v for v in RELEASES if v not in PROMISED])
def test_other_releases_end_with_an_honest_outcome_for_every_launched_kernel(
    fla_tree: FlaTree, version: str
) -> None:
    records = by_name(migrated(fla_tree(version)))
    for name in launched_kernels(version):
        assert records[name].outcome == "converted" or records[name].unresolved


@promised
def test_output_mirrors_upstream_paths_and_keeps_every_definition(fla_tree: FlaTree, version: str) -> None:
    tree, out = fla_tree(version), migrated(fla_tree(version)).out
    files = [p for p in out.rglob("*.py") if (tree.root / p.relative_to(out)).is_file()]
    assert len(files) >= len({launch["file"] for launch in launched(version)["launches"]})
    for path in files:
        assert _definitions(tree.root / path.relative_to(out)) <= _definitions(path)


def _definitions(path: Path) -> set[str]:
    nodes = ast.parse(path.read_text(encoding="utf-8")).body
    return {node.name for node in nodes if isinstance(node, (ast.FunctionDef, ast.ClassDef))}
