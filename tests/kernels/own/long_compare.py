"""64-bit program ids run into compares, offsets and a loop bound."""

import torch
import triton
import triton.language as tl

META = {"covers": ("int64 compares", "int64 loop bound"), "outcome": {"tri_fill": "converted"}}


@triton.jit
def tri_fill(src, dst, size, SIDE: tl.constexpr):
    block = tl.program_id(0).to(tl.int64)
    row = block * SIDE + tl.arange(0, SIDE)
    for other in range(0, block + 1):
        col = other * SIDE + tl.arange(0, SIDE)
        keep = (row[:, None] >= col[None, :]) & (row[:, None] < size) & (col[None, :] < size)
        tile = tl.load(src + row[:, None] * size + col[None, :], mask=keep, other=0.0)
        tl.store(dst + row[:, None] * size + col[None, :], tl.where(keep, tile, 0.0), mask=keep)


def make_inputs(device, size=27):
    return {"src": torch.randn(size, size, device=device)}


def launch(src):
    dst = torch.zeros_like(src)
    size = len(src)
    tri_fill[(triton.cdiv(size, 8),)](src, dst, size, SIDE=8)
    return dst


def reference(src):
    return src.tril()
