"""A kernel that the compiler takes: one contiguous tile in, one out."""

import torch
import triton
import triton.language as tl


@triton.jit
def double(x_ptr, y_ptr, n, BLOCK: tl.constexpr):
    offset = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    inside = offset < n
    tl.store(y_ptr + offset, tl.load(x_ptr + offset, mask=inside) * 2.0, mask=inside)


def make_inputs(device):
    return {"x": torch.zeros(5000, device=device)}


def make_many_inputs(device):
    return {"x": torch.zeros(1024 * 70000, dtype=torch.float16, device=device)}


def launch(x):
    y = torch.empty_like(x)
    double[(triton.cdiv(x.numel(), 1024),)](x, y, x.numel(), BLOCK=1024)
    return y
