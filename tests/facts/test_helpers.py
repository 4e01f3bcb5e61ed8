"""Helpers that kernels call: each name means what it means in the module where it stands."""

from __future__ import annotations

from pathlib import Path, PurePosixPath

import libcst as cst

from tritonport.discover import analyse
from tritonport.engine.context import FileContext, Settings
from tritonport.facts.algebra.values import Data
from tritonport.facts.programs import plan_programs
from tritonport.passes.kernels import kernels
from tritonport.sources.tree import SourceTree

INNER = """
import triton
import triton.language as tl

@triton.jit
def steep(x):
    return tl.where(x < 20.0, tl.exp(x), x)

@triton.jit
def curve(x):
    return steep(x)
"""
OUTER = """
import triton
import triton.language as tl
from pack.inner import curve

@triton.jit
def kernel(x, y, N: tl.constexpr):
    i = tl.arange(0, N)
    tl.store(y + i, curve(tl.load(x + i)))

def run(x, y, N):
    kernel[(1,)](x, y, N=N)
"""


def test_a_helper_finds_its_own_helpers_in_its_own_module(tmp_path: Path) -> None:
    package = tmp_path / "pack"
    package.mkdir()
    for name, text in (("__init__", ""), ("inner", INNER), ("outer", OUTER)):
        (package / f"{name}.py").write_text(text)
    analysis = analyse(SourceTree(tmp_path, "pack", PurePosixPath("pack/outer.py")))
    module = analysis.index.modules["pack.outer"]
    tree = cst.parse_module(module.text)
    file = FileContext(module, tree, analysis, plan_programs(analysis), Settings())
    (kernel,) = kernels(file)
    (store,) = kernel.facts.calls_of("store")
    value = kernel.facts.value(store.args[1].value)
    assert isinstance(value, Data), kernel.facts.explain(store.args[1].value)
    assert value.shape is not None and [str(extent) for extent in value.shape] == ["N"]
