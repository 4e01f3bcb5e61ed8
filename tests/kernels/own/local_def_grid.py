"""The grid is a local function, whose tile comes from the launch."""

import torch
import triton
import triton.language as tl

META = {"covers": ("grid def", "pid % n decode"), "outcome": {"shift_heads": "converted"}}


@triton.jit
def shift_heads(src, dst, rows, heads: tl.constexpr, WIDTH: tl.constexpr, TILE: tl.constexpr):
    part, both = tl.program_id(0), tl.program_id(1)
    row, head = both // heads, both % heads
    at = part * TILE + tl.arange(0, TILE)
    keep = at < WIDTH
    old = tl.load(src + (row * heads + head) * WIDTH + at, mask=keep, other=0.0)
    other = (head + 1) % heads  # the neighbour that receives the row
    tl.store(dst + (row * heads + other) * WIDTH + at, old, mask=keep)


def make_inputs(device):
    return {"src": torch.randn(4, 3, 20, device=device)}


def launch(src):
    rows, heads, width = src.shape
    dst = torch.full_like(src, float("nan"))

    def grid(meta):
        return (triton.cdiv(width, meta["TILE"]), rows * heads)

    shift_heads[grid](src, dst, rows, heads=heads, WIDTH=width, TILE=8)
    return dst


def reference(src):
    return src.roll(1, 1)
