"""The axes stand in the brackets without a tuple of their own."""

import torch
import triton
import triton.language as tl

META = {"covers": ("grid subscript list", "2-D"), "outcome": {"outer_sum": "converted"}}


@triton.jit
def outer_sum(left, right, dst, cols, SIDE: tl.constexpr):
    i = tl.program_id(0) * SIDE + tl.arange(0, SIDE)
    j = tl.program_id(1) * SIDE + tl.arange(0, SIDE)
    tile = tl.load(left + i)[:, None] + tl.load(right + j)[None, :]
    tl.store(dst + i[:, None] * cols + j[None, :], tile)


def make_inputs(device):
    return {"left": torch.randn(16, device=device), "right": torch.randn(24, device=device)}


def launch(left, right):
    dst = torch.full((left.numel(), right.numel()), float("nan"), device=left.device)
    down, across = left.numel() // 8, right.numel() // 8
    outer_sum[down, across](left, right, dst, right.numel(), SIDE=8)
    return dst


def reference(left, right):
    return left[:, None] + right[None, :]
