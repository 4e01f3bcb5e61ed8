"""`tritonport verify` as a user runs it: a good folder, hazards, what did not run, goldens, mistakes."""

from __future__ import annotations

import json
import shutil
from pathlib import Path

import pytest

from tests.support.cases import OWN, PACKAGES
from tests.support.cli import in_process, package, tritonport
from tritonport.errors import ExitCode

LONG = 600
"""Seconds for runs of the interpreter: some ten on a quiet machine."""
CASE = PACKAGES / "braid_case.py"


@pytest.fixture(scope="module")
def braid(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A folder with a package, its case file and what migrate makes of it."""
    folder = tmp_path_factory.mktemp("verify_cli")
    shutil.copytree(PACKAGES / "braid", folder / "braid", ignore=shutil.ignore_patterns("__pycache__"))
    shutil.copyfile(CASE, folder / "braid_case.py")
    done = tritonport("migrate", "braid", "-o", "out", cwd=folder)
    assert done.returncode == ExitCode.OK, done.stderr
    return folder


def test_a_good_folder_passes_both_tiers_and_says_so_on_stdout(braid: Path) -> None:
    done = tritonport(
        "verify", "out", "braid", "--tier", "interpret,hazard", "--cases", "braid_case.py", "--require-tier",
        "--report", "json=run.json", cwd=braid, seconds=LONG,
    )  # fmt: skip
    assert done.returncode == ExitCode.OK, done.stderr
    assert "tier interpret: 3 of 3 passed" in done.stdout
    assert "tier hazard: 3 of 3 passed" in done.stdout
    kernels = json.loads((braid / "run.json").read_text())["kernels"]
    assert {k["tiers"]["interpret"] for k in kernels} == {k["tiers"]["hazard"] for k in kernels} == {"pass"}
    assert {k["tiers"]["npu-compile"] for k in kernels} == {"not-run"}


def test_without_cases_nothing_passed_and_a_required_tier_is_missed(braid: Path) -> None:
    lenient = tritonport("verify", "out", "braid", cwd=braid)
    assert lenient.returncode == ExitCode.OK
    assert "passed" not in lenient.stdout.replace("0 of 3 passed", "")
    assert "--cases" in lenient.stderr
    strict = tritonport("verify", "out", "braid", "--require-tier", cwd=braid)
    assert strict.returncode == ExitCode.FINDINGS


def test_the_record_is_all_that_stdout_has(braid: Path) -> None:
    done = in_process("verify", "out", "braid", "--tier", "parse", "--format", "json", cwd=braid)
    assert done.returncode == ExitCode.OK, done.stderr
    assert {k["tiers"]["parse"] for k in json.loads(done.stdout)["kernels"]} == {"pass"}
    wrong = in_process("verify", "out", "braid", "--tier", "parse", "--format", "yaml", cwd=braid)
    assert wrong.returncode == ExitCode.USAGE and "unknown format 'yaml'" in wrong.stderr


def test_a_case_file_may_be_the_migrated_file_itself(tmp_path: Path) -> None:
    shutil.copyfile(OWN / "plane_scale.py", tmp_path / "plane_scale.py")
    done = tritonport(
        "migrate", "plane_scale.py", "-o", "out", "--verify", "interpret", "--cases", "plane_scale.py",
        cwd=tmp_path, seconds=LONG,
    )  # fmt: skip
    assert done.returncode == ExitCode.OK, done.stderr
    assert "tier interpret: 1 of 1 passed" in done.stdout


SHARED_WORD = """\
import torch
import triton
import triton.language as tl


@triton.jit
def double_rows(src, dst, mark, size, TILE: tl.constexpr):
    at = tl.program_id(0) * TILE + tl.arange(0, TILE)
    tl.store(dst + at, 2 * tl.load(src + at, mask=at < size), mask=at < size)
    tl.store(mark, 1.0 * tl.program_id(0))


def make_inputs(device):
    return {"src": torch.randn(40, device=device)}


def launch(src):
    dst, mark = torch.empty_like(src), src.new_empty(1)
    double_rows[(triton.cdiv(src.numel(), 16),)](src, dst, mark, src.numel(), TILE=16)
    return dst, mark
"""
"""Every program writes one word, each its own value: the last one wins, whichever that is."""


def test_a_hazard_is_named_and_ends_with_3(tmp_path: Path) -> None:
    package(tmp_path / "marks", rows=SHARED_WORD)
    made = tritonport("migrate", "marks", "-o", "out", cwd=tmp_path)
    assert made.returncode == ExitCode.OK, made.stderr
    done = tritonport("verify", "out", "marks", "--tier", "hazard", cwd=tmp_path, seconds=LONG)
    assert done.returncode == ExitCode.MISMATCH, done.stderr
    assert "tier hazard: 0 of 1 passed" in done.stdout
    kernel, reason, *_ = done.stdout.splitlines()
    assert "marks.rows:double_rows  hazard failed" in kernel
    assert "two tasks write one address" in reason and "rows.py:" in reason and "task 0 and 1" in reason


def _changed(folder: Path) -> list[str]:
    shutil.copytree(folder / "out", folder / "changed")
    next((folder / "changed").rglob("weave.py")).write_text("pass\n")
    return ["changed", "braid"]


def _not_an_output(folder: Path) -> list[str]:
    return ["braid", "braid"]


def _without_sources(_folder: Path) -> list[str]:
    return ["out"]


def _unknown_tier(_folder: Path) -> list[str]:
    return ["out", "braid", "--tier", "guess"]


def _no_functions(folder: Path) -> list[str]:
    (folder / "bare.py").write_text("")
    return ["out", "braid", "--cases", "bare.py"]


MISTAKES = {
    _changed: ("weave.py", "migrate again"),
    _not_an_output: ("not made by tritonport migrate",),
    _without_sources: ("sources on disk",),
    _unknown_tier: ("guess", "interpret"),
    _no_functions: ("make_inputs",),
}


@pytest.mark.parametrize(("mistake", "said"), MISTAKES.items(), ids=lambda m: getattr(m, "__name__", ""))
def test_a_mistake_is_one_line_and_2(mistake, said: tuple[str, ...], braid: Path) -> None:
    done = tritonport("verify", *mistake(braid), cwd=braid)
    assert done.returncode == ExitCode.USAGE, done.stdout
    assert done.stdout == ""
    (line,) = done.stderr.strip().splitlines()
    assert all(text in line for text in said), line
