"""Products in run-time branches: not taken by the true compiler as written, taken as rewritten."""

from __future__ import annotations

import pytest

from tests.support.migrated import migrate
from tritonport.npu.tier import run_npu_compile
from tritonport.sources import resolve

pytestmark = pytest.mark.usefixtures("toolchain")

SOURCE = """\
import torch
import triton
import triton.language as tl


@triton.jit
def starts_a_sum(x, y, T, N: tl.constexpr):
    o = tl.arange(0, N)
    row = tl.program_id(0)
    b = tl.load(x + o[:, None] * N + o[None, :])
    acc = tl.dot(b, b)
    if row * N < T:
        acc *= 0.5
    for i in range(0, T, N):
        b = tl.load(x + (i + o)[:, None] * N + o[None, :], mask=(i + o < T)[:, None], other=0.0)
        acc = tl.dot(tl.trans(b), b, acc)
    tl.store(y + row * N * N + o[:, None] * N + o[None, :], acc)


@triton.jit
def stored(x, y, T, N: tl.constexpr):
    o = tl.arange(0, N)
    row = tl.program_id(0)
    for i in range(0, 4):
        b = tl.load(x + (i * N + o)[:, None] * N + o[None, :])
        p = tl.dot(b, b)
        if i * N < T:
            p *= 0.5
        tl.store(y + (row * 4 + i) * N * N + o[:, None] * N + o[None, :], p)


@triton.jit
def summed(x, s, y, T, N: tl.constexpr):
    o = tl.arange(0, N)
    row = tl.program_id(0)
    for t in range(0, 4):
        acc = tl.zeros([N, N], dtype=tl.float32)
        for i in range(0, 4):
            b = tl.load(x + (i * N + o)[:, None] * N + o[None, :])
            acc = tl.dot(tl.trans(b), b, acc)
        if t * N < T:
            b_s = tl.load(s + t * N + o, mask=t * N + o < T, other=0.0)
            acc = acc * b_s[:, None]
        tl.store(y + (row * 4 + t) * N * N + o[:, None] * N + o[None, :], acc)


def make_inputs(device):
    x = torch.zeros(256, 64, device=device, dtype=torch.bfloat16)
    return {"x": x, "s": torch.zeros(200, device=device)}


def launch(x, s):
    y = torch.empty(8 * 64, 64, device=x.device)
    starts_a_sum[(2,)](x, y, 200, N=64)
    stored[(2,)](x, y, 200, N=64)
    summed[(2,)](x, s, y, 200, N=64)
    return y
"""


@pytest.fixture(scope="module")
def compiled(tmp_path_factory: pytest.TempPathFactory):
    folder = tmp_path_factory.mktemp("branches")
    (folder / "branches.py").write_text(SOURCE)
    source = resolve(str(folder / "branches.py"))
    out = migrate(source, folder / "out", profile="baseline").out
    return run_npu_compile(
        source=source, out=out, cases=None, target="a2", jobs=1, toolchain=None, progress=lambda *_: None
    )


@pytest.mark.parametrize("kernel", ["starts_a_sum", "stored", "summed"])
def test_what_the_compiler_does_not_take_is_taken_rewritten(compiled, kernel: str) -> None:
    (case,) = compiled.kernels[f"branches:{kernel}"]["cases"]
    assert case["before"]["fits"] is None  # it never came to a plan
    assert case["after"]["fits"] is True
    assert case["after"]["error"] is None
    assert case["after"]["scalar_iterations"] == 0
