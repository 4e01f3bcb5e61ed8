"""What a target changes: the data that it reads, the rules that it does without, and what the report says of it."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from tests.support import cases
from tests.support.cli import in_process
from tritonport.targets import load_target, target_names

KERNEL = cases.OWN / "matmul_grouped.py"


def migrated(target: str, folder: Path) -> dict[str, Any]:
    """The record of the one kernel, migrated by the command."""
    arguments = ("migrate", KERNEL, "-o", folder / "out", "--target", target)
    done = in_process(*arguments, "--report", f"json={folder / 'run.json'}", cwd=folder)
    assert done.returncode == 0, done.stderr
    (kernel,) = json.loads((folder / "run.json").read_text())["kernels"]
    assert kernel["outcome"] == "converted"
    return kernel


def slugs(kernel: dict[str, Any]) -> set[str]:
    return {use["slug"] for use in kernel["rules"]}


def test_every_number_of_every_target_names_its_source() -> None:
    assert set(target_names()) >= {"a2", "a3", "a5"}
    for name in target_names():
        target = load_target(name)
        assert target.chips
        assert all(chip.source and chip.vector_cores == 2 * chip.cube_cores for chip in target.chips)
        assert all(figure.source and figure.value > 0 for figure in target.figures.values())


def test_core_counts_are_those_of_the_chips() -> None:
    assert load_target("a2").cores(cube=True) == (20, 24)
    assert load_target("a2").cores(cube=False) == (40, 48)
    assert load_target("a3").cores(cube=True) == (20, 24)


@pytest.mark.parametrize("target", ["a2", "a3"])
def test_targets_without_simt_get_persistent_kernels(target: str, tmp_path: Path) -> None:
    kernel = migrated(target, tmp_path)
    assert "grid-collapse" in slugs(kernel)
    assert "cube cores" in kernel["grid"]["after"]


def test_a_target_that_runs_the_programs_itself_keeps_the_grid_and_says_why(tmp_path: Path) -> None:
    kernel = migrated("a5", tmp_path)
    assert slugs(kernel) >= {"empty-work", "launch-options"}
    assert "grid-collapse" not in slugs(kernel)
    assert kernel["grid"]["after"] == kernel["grid"]["before"]
    assert any("the compiler folds large grids itself" in note for note in kernel["notes"])
    text = (tmp_path / "out" / KERNEL.name).read_text()
    assert "def multiply(" in text
    assert "multiply_task" not in text
