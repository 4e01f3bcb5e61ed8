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


GRIDS = """
import triton
import triton.language as tl


@triton.autotune(configs=[triton.Config({"N": 64}, num_warps=2)], key=["T"])
@triton.jit
def tuned(x, y, T, N: tl.constexpr):
    o = tl.program_id(0) * N + tl.arange(0, N)
    tl.store(y + o, tl.load(x + o, mask=o < T), mask=o < T)


def run(x, y, grid):
    tuned[grid](x, y, x.numel())
    return y
"""


def test_a_grid_that_nobody_can_follow_is_no_matter_where_grids_stay(tmp_path: Path) -> None:
    (tmp_path / "rows.py").write_text(GRIDS)
    found: dict[str, dict[str, Any]] = {}
    for target in ("a2", "a5"):
        report = tmp_path / f"{target}.json"
        arguments = ("migrate", tmp_path / "rows.py", "-o", tmp_path / target, "--target", target)
        in_process(*arguments, "--report", f"json={report}", cwd=tmp_path)
        (found[target],) = json.loads(report.read_text())["kernels"]
    assert found["a2"]["outcome"] == "not-converted"
    assert found["a5"]["outcome"] == "converted"
    assert slugs(found["a5"]) >= {"launch-options", "empty-work"}
    assert any("the grid stays on a5" in note for note in found["a5"]["notes"])
    text = (tmp_path / "a5" / "rows.py").read_text()
    assert "unless_empty(tuned)[grid](x, y, x.numel())" in text
    assert "**gpu_only(num_warps=2)" in text
