"""A left operand of tl.dot that is read again is protected whatever function of the math library made it."""

from __future__ import annotations

from pathlib import Path, PurePosixPath

import pytest

from tritonport.discover import analyse
from tritonport.engine.context import Settings
from tritonport.engine.pipeline import run_file
from tritonport.facts.programs import plan_programs
from tritonport.passes import all_rules
from tritonport.sources.tree import SourceTree

SOURCE = """import triton
import triton.language as tl
import triton.language.extra.libdevice as libdevice


@triton.jit
def product(x, y, o, N: tl.constexpr):
    tile = tl.arange(0, N)[:, None] * N + tl.arange(0, N)[None, :]
    b_a = tl.load(x + tile) * FUNCTION(tl.load(y + tile))
    b_o = tl.dot(b_a, tl.load(y + tile))
    tl.store(o + tile, b_o + b_a)


def run(x, y, o):
    product[(1,)](x, y, o, N=16)
"""


@pytest.mark.parametrize("function", ["libdevice.fast_expf", "libdevice.tanh", "tl.exp", "tl.math.exp2"])
def test_the_operand_is_copied(function: str, tmp_path: Path) -> None:
    (tmp_path / "lone.py").write_text(SOURCE.replace("FUNCTION", function))
    analysis = analyse(SourceTree(tmp_path, None, PurePosixPath("lone.py")))
    (module,) = analysis.index.modules.values()
    programs = plan_programs(analysis)
    result = run_file(module, analysis, programs, Settings(), [all_rules()["dot-operand-reuse"]])
    assert "tl.dot(b_a + 0, " in result.text
    assert not result.unresolved
