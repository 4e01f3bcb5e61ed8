"""Program ids whose axis a helper is handed."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

from tritonport.migrate import MigrateOptions, MigrateResult, migrate_tree
from tritonport.sources import resolve

SOURCE = """
import triton
import triton.language as tl


@triton.jit
def place(N: tl.constexpr, AX: tl.constexpr = 1):
    return tl.program_id(AX) * N + tl.arange(0, N)


@triton.jit
def first(x, y, N: tl.constexpr):
    o = FIRST
    tl.store(y + o, tl.load(x + o))


@triton.jit
def second(x, y, N: tl.constexpr):
    o = SECOND
    tl.store(y + o, tl.load(x + o))


def run(x, y):
    first[(2, x.numel() // 16)](x, y, N=16)
    second[(2, x.numel() // 16)](x, y, N=16)
"""


def _migrated(folder: Path, first: str, second: str) -> MigrateResult:
    (folder / "ids.py").write_text(SOURCE.replace("FIRST", first).replace("SECOND", second))
    return migrate_tree(resolve(str(folder / "ids.py")), folder / "out", MigrateOptions(), lambda *_: None)


@pytest.mark.parametrize(
    ("first", "second"),
    [
        ("place(N, 1)", "place(N=N, AX=1)"),
        ("place(N)", "place(N, 1)"),
        ("place(N)", "place(N)"),
    ],
)
def test_one_axis_at_every_call_is_known(tmp_path: Path, first: str, second: str):
    result = _migrated(tmp_path, first, second)
    assert {k.outcome for k in result.record.kernels} == {"converted"}
    text = (tmp_path / "out/ids.py").read_text()
    variant = re.search(r"def place_task\((\w+), N.*\n\s+return (\w+) \* N", text)
    assert variant is not None
    assert variant[1] == variant[2]
    for name in ("first", "second"):
        task = text.partition(f"def {name}_task(")[2]
        ids = [p.strip() for p in task.partition(")")[0].split(",")]
        handed = re.search(r"place_task\((\w+)", task)
        assert handed is not None
        assert handed[1] == ids[0] == "pid_1"


@pytest.mark.parametrize(
    ("first", "second"),
    [
        ("place(N, 0)", "place(N, 1)"),
        ("place(N, N // 16)", "place(N, 1)"),
        ("place(*(N, 1))", "place(N, 1)"),
        ("place(N, 0)", "place(N)"),
    ],
)
def test_an_axis_that_differs_or_is_computed_is_refused(tmp_path: Path, first: str, second: str):
    result = _migrated(tmp_path, first, second)
    assert {k.outcome for k in result.record.kernels} == {"not-converted"}
    whys = [item.why for k in result.record.kernels for item in k.unresolved]
    assert all("one helper per axis" in why for why in whys)
