"""Tiles through block pointers, as kernels up to Triton 3.8 write them."""

import torch
import triton
import triton.language as tl

META = {"covers": ("block pointers", "parameter reassigned"), "outcome": {"flip_tiles": "converted"}}


@triton.jit
def flip_tiles(src, dst, rows, width, TILE: tl.constexpr):
    down, item = tl.program_id(0), tl.program_id(1)
    src += item * rows * width
    dst += item * rows * width
    for across in range(tl.cdiv(width, TILE)):
        p_in = tl.make_block_ptr(
            src, (rows, width), (width, 1), (down * TILE, across * TILE), (TILE, TILE), (1, 0)
        )
        p_out = tl.make_block_ptr(
            dst, (width, rows), (rows, 1), (across * TILE, down * TILE), (TILE, TILE), (1, 0)
        )
        tile = tl.load(p_in, boundary_check=(0, 1))
        tl.store(p_out, tl.trans(tile), boundary_check=(0, 1))


def make_inputs(device):
    return {"src": torch.randn(3, 10, 13, device=device)}


def launch(src):
    items, rows, width = src.shape
    dst = torch.full((items, width, rows), float("nan"), device=src.device)
    flip_tiles[(triton.cdiv(rows, 8), items)](src, dst, rows, width, TILE=8)
    return dst


def reference(src):
    return src.transpose(1, 2).contiguous()
