"""Rebased indices at sizes where fp32 and int32 indices are wrong. Nothing of that size is allocated.

A cast of row indices to fp32 is wrong above 2^24 rows, an int32 offset above 2^31 elements; hand ports have shipped
both. What is expected is computed in Python's integers.
"""

from __future__ import annotations

import json
import subprocess
import sys
from typing import Any

import pytest

from tritonport.resources import rules_root

EXAMPLES = rules_root() / "catalog"
D = N = 16
SIZES = {
    "above 2^24 rows": 2**24 + 21,
    "above 2^31 elements": 2**28 + 5,
    "row indices above 2^31": 2**31 + 2**31 // 16 + 9,
}
"""What a tile spans beyond 32 bits is no size of a tensor but of a row: see row_stride below."""


def accesses(example: str, kernel: str, program: int, arguments: dict[str, Any]) -> list[list[int]]:
    """Element offsets of each load and store, in order of execution."""
    command = [sys.executable, "-m", "tests.facts.run_far", str(EXAMPLES / example), kernel, str(program)]
    done = subprocess.run([*command, json.dumps(arguments)], capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr[-2000:]
    return json.loads(done.stdout)


@pytest.mark.parametrize("side", ["in", "out"])
@pytest.mark.parametrize("rows", SIZES.values(), ids=list(SIZES))
def test_masked_rows_far_into_a_tensor(side: str, rows: int) -> None:
    last = (rows - 1) // N
    arguments = {"x": "pointer", "y": "pointer", "T": rows, "D": D, "N": N}
    found = accesses(f"index-width/examples/masked_rows.{side}.py", "masked_rows", last, arguments)
    mine = range(last * N, rows)
    loads = [row * D + d for row in mine for d in range(D)]
    stores = [1 + row * N + n for row in mine for n in range(N)]
    assert found == [loads, stores]


@pytest.mark.parametrize("side", ["in", "out"])
def test_a_stride_that_only_the_host_knows_stays_in_64_bits(side: str) -> None:
    rows, stride = 37, 2**28
    arguments = {"x": "pointer", "y": "pointer", "T": rows, "S": stride, "N": N}
    found = accesses(f"index-width/examples/runtime_stride.{side}.py", "spread", 1, arguments)
    mine = range(N, 2 * N)
    assert found == [[row * stride for row in mine], [1 + row for row in mine]]


def far_rows(side: str, stride: int) -> list[list[int]]:
    arguments = {"x": "pointer", "y": "pointer", "T": 3 * N, "S": stride, "D": D, "N": N}
    return accesses(f"index-width/examples/row_stride.{side}.py", "far_rows", 2, arguments)


@pytest.mark.parametrize("side", ["in", "out"])
def test_rows_that_are_far_apart_and_fit_a_tile(side: str) -> None:
    stride, mine = 2**26, range(2 * N, 3 * N)
    assert far_rows(side, stride) == [
        [row * stride + d for row in mine for d in range(D)],
        [1 + row * D + d for row in mine for d in range(D)],
    ]


def test_a_tile_that_32_bits_cannot_span_is_refused_when_it_is_compiled() -> None:
    stride, mine = 2**27, range(2 * N, 3 * N)
    assert far_rows("in", stride)[0] == [row * stride + d for row in mine for d in range(D)]
    with pytest.raises(AssertionError, match="2\\*\\*31"):
        far_rows("out", stride)


def test_the_program_after_the_last_one_touches_nothing() -> None:
    rows = SIZES["above 2^31 elements"]
    arguments = {"x": "pointer", "y": "pointer", "T": rows, "D": D, "N": N}
    example = "index-width/examples/masked_rows.out.py"
    assert accesses(example, "masked_rows", rows // N + 1, arguments) == [[], []]
