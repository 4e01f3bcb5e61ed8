"""Rows of a task are fewer than its tile, which reaches into the next task's rows and writes what that writes too."""

import torch
import triton
import triton.language as tl


@triton.jit
def doubled_kernel(x, y, count, ROWS: tl.constexpr, TILE: tl.constexpr):
    at = tl.program_id(0) * ROWS + tl.arange(0, TILE)
    tl.store(y + at, 2 * tl.load(x + at, mask=at < count, other=0.0), mask=at < count)


def make_inputs(device):
    return {"x": torch.randn(21, device=device)}


def launch(x):
    y = torch.empty_like(x)
    doubled_kernel[(triton.cdiv(len(x), 6),)](x, y, len(x), ROWS=6, TILE=8)
    return y


def reference(x):
    return 2 * x
