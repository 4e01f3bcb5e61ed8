"""Bad input ends in one clear line and leaves nothing behind; a grid that is not understood stops one kernel only."""

from __future__ import annotations

import json
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path

import pytest

from tests.support import broken, cases
from tests.support.migrated import by_name, migrate

TRITONPORT = Path(sys.executable).with_name("tritonport")


def tritonport(*args: object, **env: str) -> subprocess.CompletedProcess[str]:
    command = [str(TRITONPORT), *map(str, args)]
    return subprocess.run(
        command, env=cases.environment(**env), capture_output=True, text=True, timeout=120, check=False
    )


@pytest.mark.parametrize(
    ("make", "named"),
    [
        (broken.syntax_error, "syntax_error.py:20"),
        (broken.not_utf8, "not_utf8.py"),
        (broken.not_python, "notes.txt"),
        (broken.half_broken_package, "bad.py:1"),
        (broken.deep_expression, "deep.py:3"),
    ],
)
def test_unreadable_source_is_one_line_that_names_the_file(
    tmp_path: Path, make: Callable[[Path], Path], named: str
) -> None:
    source = make(tmp_path / "src")
    done = tritonport("migrate", source, "-o", tmp_path / "out")
    assert done.returncode == 2
    assert done.stdout == ""
    assert len(done.stderr.strip().splitlines()) == 1, done.stderr
    assert named in done.stderr
    assert [p.name for p in tmp_path.iterdir()] == ["src"]


@pytest.mark.parametrize("make", [broken.half_broken_package])
def test_plan_names_the_broken_file_and_reports_the_others(
    tmp_path: Path, make: Callable[[Path], Path]
) -> None:
    done = tritonport("plan", make(tmp_path), "--format", "json")
    plan = json.loads(done.stdout)
    assert [p["file"] for p in plan["problems"]] == ["half/bad.py"]
    assert [p["line"] for p in plan["problems"]] == [1]
    assert [k["name"] for k in plan["kernels"]] == ["half.good:double"]
    assert done.returncode == 2


def test_a_grid_that_is_not_understood_is_unresolved_and_the_rest_converted(tmp_path: Path) -> None:
    source = broken.opaque_grid(tmp_path / "src")
    result = migrate(source, tmp_path / "out")
    records = by_name(result)
    assert result.exit_code == 1
    assert records["opaque_grid:double"].outcome == "converted"
    assert records["opaque_grid:halve"].outcome == "not-converted"
    (item,) = records["opaque_grid:halve"].unresolved
    assert "planner.shape_of" in item.why
    launch = next(n for n, line in enumerate(source.read_text().splitlines(), 1) if "halve[" in line)
    assert (item.file, item.line) == ("opaque_grid.py", launch)


def test_output_with_a_kernel_that_was_left_alone_still_runs(tmp_path: Path) -> None:
    source = broken.opaque_grid(tmp_path / "src")
    out = migrate(source, tmp_path / "out").out
    ran = cases.run_cases([out / source.name], root=out, TRITONPORT_CORES="2")[source.stem]
    assert ran["error"] is None
    assert ran["right"]
    assert ran["launches"] == [["double", [2, 1, 1]], ["halve", [4, 1, 1]]]


MADE_AT_RUN_TIME = """
import functools

import torch
import triton
import triton.language as tl


@functools.cache
def maker(scale):
    @triton.jit
    def tile_sum(x):
        return tl.sum(x, 0)

    @triton.jit
    def grow(src, dst, SPAN: tl.constexpr):
        lanes = tl.program_id(0) * SPAN + tl.arange(0, SPAN)
        tl.store(dst + lanes, tl.load(src + lanes) * scale + tile_sum(tl.load(src + lanes)))

    return grow


def plain(src, dst, SPAN: tl.constexpr):
    lanes = tl.program_id(0) * SPAN + tl.arange(0, SPAN)
    tl.store(dst + lanes, tl.load(src + lanes))


copied = triton.jit(plain)


if torch.cuda.is_available():
    @triton.jit
    def widen(x):
        return x.to(tl.float32)
else:
    @triton.jit
    def widen(x):
        return x


@triton.jit(do_not_specialize=["n"])
def ordinary(src, dst, n, SPAN: tl.constexpr):
    lanes = tl.program_id(0) * SPAN + tl.arange(0, SPAN)
    tl.store(dst + lanes, widen(tl.load(src + lanes, mask=lanes < n)), mask=lanes < n)


def run(src, dst):
    maker(2.0)[(4,)](src, dst, SPAN=8)
    copied[(4,)](src, dst, SPAN=8)
    ordinary[(4,)](src, dst, 32, SPAN=8)
"""


def test_kernels_made_at_run_time_are_listed_and_end_not_converted(tmp_path: Path) -> None:
    source = tmp_path / "src" / "made.py"
    source.parent.mkdir()
    source.write_text(MADE_AT_RUN_TIME)
    result = migrate(source, tmp_path / "out")
    assert result.exit_code == 1
    records = by_name(result)
    assert {name: r.outcome for name, r in records.items()} == {
        "made:maker.grow": "not-converted",
        "made:plain": "not-converted",
        "made:ordinary": "converted",
    }
    assert "move it to the top level" in records["made:maker.grow"].unresolved[0].why
    assert "decorate the function with @triton.jit" in records["made:plain"].unresolved[0].why
