"""No kernel of the tuned profile is worse than upstream's hand port, by the figures of the true compiler."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import pytest

from tests.bench.hand_port import VERSION, Side, compared
from tritonport.npu.toolchain import Missing, locate
from tritonport.sources import SourceTree
from tritonport.tune.variants import Compiler

TILED = (
    "scaled dot kkt",
    "solve_tril, 64 x 64",
    "recompute_w_u",
    "fwd_h",
    "fwd_o",
    "bwd_dv_local",
    "bwd_dhu",
)
"""Steps whose vector half has to run on both vector cores."""
LARGEST = {"scaled dot kkt": 30.0, "fwd_o": 45.0}
"""Per cent of the unified buffer that hand experiments reached with the largest tiles."""
SLACK = 4
"""Scalar iterations that whole-tile reductions and single elements may take."""


@pytest.mark.slow
def test_no_step_is_worse_than_the_hand_port(fla_tree: Callable[[str], SourceTree], tmp_path: Path) -> None:
    if isinstance(found := locate(None, "1.2.0"), Missing):
        pytest.skip(found.why)
    steps = compared(Compiler.find("a2", "1.2.0", None), fla_tree(VERSION), tmp_path / "out")
    assert {step: worse for step, (port, ours) in steps.items() if (worse := ours.worse_than(port))} == {}
    ours = {step: side for step, (_, side) in steps.items()}
    assert all(side.kernels == 1 and side.fits for side in ours.values())
    assert {step: side.scalar for step, side in ours.items() if (side.scalar or 0) > SLACK} == {}
    assert {step: side.discrete for step, side in ours.items() if side.discrete} == {}
    assert {step: ours[step].split for step in TILED} == dict.fromkeys(TILED, "tiled")
    assert {step: ours[step].used for step, most in LARGEST.items() if ours[step].used > most} == {}
    assert ours["cumulative sum"].scalar == 0


def side(
    *, fits: bool = True, scalar: int | None = 0, discrete: int | None = 0, split: str = "tiled"
) -> Side:
    return Side(1, fits, 50.0, scalar, discrete, split)


@pytest.mark.parametrize(
    ("ours", "port", "worse"),
    [
        (side(), side(), []),
        (side(scalar=1), side(), ["scalar"]),
        (side(discrete=64), side(scalar=4), ["discrete"]),
        (side(split="guarded"), side(), ["split"]),
        (side(split="guarded"), side(split="guarded"), []),
        (side(scalar=3), side(fits=False, scalar=None, discrete=None), []),
        (side(fits=False, scalar=None, discrete=None), side(), ["fit", "scalar", "discrete"]),
    ],
)
def test_what_counts_as_worse(ours: Side, port: Side, worse: list[str]) -> None:
    assert ours.worse_than(port) == worse
