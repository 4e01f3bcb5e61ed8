"""Decays rows, and twice."""

import torch
import triton
import triton.language as tl

from routed.dispatching import routed


@triton.jit
def decay_kernel(src, dst, size, TILE: tl.constexpr):
    at = tl.program_id(0) * TILE + tl.arange(0, TILE)
    tl.store(dst + at, tl.exp(tl.load(src + at, mask=at < size)), mask=at < size)


@routed("rows")
def decay(src, size):
    dst = torch.zeros_like(src)
    decay_kernel[(triton.cdiv(size, 16),)](src, dst, size, TILE=16)
    return dst
