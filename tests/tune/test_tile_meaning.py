"""Tiles whose size is part of the result stay without a tuning entry; those that are proved not to be change."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.tune.test_tile_enlarge import run, written

KERNEL = """@triton.jit
def one(x, y, seed, D, BD: tl.constexpr):
    i = tl.program_id(0)
    s = 0.0
{body}


"""
GRID = "    o = i * BD + tl.arange(0, BD)\n    b = tl.load(x + o, mask=o < D, other=0.0)\n"
LOOP = """    for j in range(0, D, BD):
        o = j + tl.arange(0, BD)
        b = tl.load(x + i * D + o, mask=o < D, other=0.0)
"""
HOST = """def launch(x, y, wide=False):
    D = x.numel()
    BD = 64 if wide else 16
    one[(triton.cdiv(D, BD),)](x, y, 1, D, BD)
    return y
"""


def changed(folder: Path, body: str) -> bool:
    return run(written(folder, HOST, KERNEL.format(body=body.rstrip()))).changed


@pytest.mark.parametrize(
    "body",
    [
        GRID + "    tl.store(y + o, b / (tl.max(tl.abs(b), 0) + 1), mask=o < D)",
        GRID + "    tl.store(y + o, b - tl.load(x + i * BD), mask=o < D)",
        GRID + "    tl.store(y + o, b + tl.rand(seed, tl.arange(0, BD)), mask=o < D)",
        GRID + "    tl.atomic_add(y, tl.max((b > 1.5).to(tl.int32), 0))",
        GRID + "    tl.store(y + o, tl.sort(b), mask=o < D)",
        GRID + "    tl.store(y + o, b)",
        LOOP + "        tl.store(y + i * D + o, b * tl.rsqrt(tl.sum(b * b, 0) + 1), mask=o < D)",
        LOOP
        + "        e = tl.exp(b - tl.max(b, 0))\n        tl.store(y + i * D + o, e / tl.sum(e, 0), mask=o < D)",
        LOOP + "        tl.store(y + i * D + o, b + s, mask=o < D)\n        s = s * 0.5 + tl.sum(b, 0)",
        LOOP + "        s = s * 0.5 + tl.sum(b, 0)\n    tl.store(y + i, s)",
        LOOP + "        s += tl.sum(b + 1, 0)\n    tl.store(y + i, s)",
        LOOP + "        s += 1\n    tl.store(y + i, s)",
    ],
)
def test_a_size_that_is_part_of_the_result_stays(tmp_path: Path, body: str) -> None:
    assert not changed(tmp_path, body)


@pytest.mark.parametrize(
    "body",
    [
        GRID + "    tl.store(y + o, tl.exp(b) * 2, mask=o < D)",
        LOOP + "        s += tl.sum(b * b, 0)\n    tl.store(y + i, s)",
        LOOP + "        s += tl.sum(b, 0) * 0.5\n    tl.store(y + i, s)",
    ],
)
def test_a_size_that_is_proved_to_be_no_part_of_it_changes(tmp_path: Path, body: str) -> None:
    assert changed(tmp_path, body)


@pytest.mark.parametrize(
    ("count", "changes"),
    [("triton.cdiv(D, BD)", True), ("(D + BD - 1) // BD", True), ("triton.cdiv(D, BD) // 2", False)],
)
def test_a_name_for_the_number_of_tiles_has_to_be_that_number(
    tmp_path: Path, count: str, changes: bool
) -> None:
    host = HOST.replace("    one[(triton.cdiv(D, BD),)]", f"    tiles = {count}\n    one[(tiles,)]")
    body = GRID + "    tl.store(y + o, tl.exp(b) * 2, mask=o < D)"
    assert run(written(tmp_path, host, KERNEL.format(body=body))).changed is changes
