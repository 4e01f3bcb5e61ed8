"""What counts as a task's own tile that it reads back, and what a tuner may time."""

from __future__ import annotations

from pathlib import Path, PurePosixPath

import pytest

from tritonport.discover import analyse
from tritonport.engine.context import Settings
from tritonport.engine.pipeline import FileResult, run_file
from tritonport.facts.programs import plan_programs
from tritonport.passes import all_rules
from tritonport.sources.tree import SourceTree

KERNEL = """import triton
import triton.language as tl


@triton.autotune(configs=[triton.Config({{}}, num_warps=w) for w in (2, 4)], key=['D'])
@triton.jit
def twice(x, y, D, S, flag, FIRST: tl.constexpr, B: tl.constexpr):
    i = tl.program_id(0)
    o = tl.arange(0, B)
{body}

def run(x, y, D, S, flag):
    twice[(8,)](x, y, D, S, flag, FIRST=True, B=64)
"""
STORED = (
    "    for j in range(tl.cdiv(D, B)):\n        tl.store(y + i * D + j * B + o, 1.0, mask=j * B + o < D)\n"
)
LOADED = (
    "    for k in range(tl.cdiv(D, B)):\n        b = tl.load(y + i * D + k * B + o, mask=k * B + o < D)\n"
    "        tl.store(y + i * D + k * B + o, b + 1.0, mask=k * B + o < D)\n"
)
INSIDE = "".join(f"    {line}\n" for line in STORED.splitlines())


def applied(folder: Path, slug: str, body: str) -> FileResult:
    (folder / "lone.py").write_text(KERNEL.format(body=body), encoding="utf-8")
    analysis = analyse(SourceTree(folder, None, PurePosixPath("lone.py")))
    rules = [all_rules()[slug]]
    return run_file(analysis.index.modules["lone"], analysis, plan_programs(analysis), Settings(), rules)


@pytest.mark.parametrize(
    ("body", "barriers"),
    [
        (STORED + LOADED, 1),
        (STORED + "    tl.debug_barrier()\n" + LOADED, 0),
        (STORED + "    if FIRST:\n        tl.debug_barrier()\n" + LOADED, 1),
        (LOADED, 0),
        (STORED.replace("cdiv(D, B)", "cdiv(S, B)") + LOADED, 0),
        (STORED.replace("tl.store(y", "tl.store(x") + LOADED, 0),
        ("    if FIRST:\n" + INSIDE + "    else:\n" + INSIDE.replace("1.0", "2.0") + LOADED, 1),
    ],
    ids=["reload", "barrier", "barrier-in-a-branch", "update", "other-range", "other-tensor", "branches"],
)
def test_a_barrier_stands_before_each_reload_and_nowhere_else(
    tmp_path: Path, body: str, barriers: int
) -> None:
    result = applied(tmp_path, "reload-barrier", body)
    assert result.text.count("debug_barrier") - body.count("debug_barrier") == barriers
    assert not result.unresolved


@pytest.mark.parametrize(
    ("body", "certain"),
    [
        (STORED + LOADED, True),
        (LOADED, False),
        ("    if FIRST:\n" + INSIDE + LOADED, False),
        ("    if flag > 0:\n" + INSIDE + LOADED, False),
        (STORED.replace("+ o < D", "+ o < S") + LOADED, False),
        (STORED.replace("cdiv(D, B)", "cdiv(S, B)") + LOADED, False),
    ],
    ids=["whole", "update", "constexpr-branch", "run-time-branch", "other-mask", "other-range"],
)
def test_a_tuner_may_time_a_kernel_that_reads_only_what_it_wrote(
    tmp_path: Path, body: str, certain: bool
) -> None:
    result = applied(tmp_path, "autotune-space", body)
    assert bool(result.unresolved) is not certain
    assert ("distinct(" in result.text) is certain
