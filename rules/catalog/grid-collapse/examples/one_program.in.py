"""A kernel that asks for no program id and is launched once: one task, and no loop around it."""

import torch
import triton
import triton.language as tl


@triton.jit
def gram(src, dst, N: tl.constexpr, D: tl.constexpr):
    row, col = tl.arange(0, N)[:, None], tl.arange(0, D)[None, :]
    tile = tl.load(src + row * D + col)
    tl.store(dst + row * N + tl.arange(0, N)[None, :], tl.dot(tile, tl.trans(tile)))


def run(src):
    dst = torch.empty(16, 16, device=src.device)
    gram[(1,)](src, dst, N=16, D=32)
    return dst
