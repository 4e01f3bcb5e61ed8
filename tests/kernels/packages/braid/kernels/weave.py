"""The kernels."""

import triton
import triton.language as tl

from braid import ids as places

from ..ids import corner


@triton.jit
def weave_kernel(left, right, dst, width, ACROSS: tl.constexpr, TILE: tl.constexpr):
    line, part = corner(ACROSS)
    at = part * TILE + tl.arange(0, TILE)
    keep = at < width
    tl.store(dst + line * 2 * width + at * 2, tl.load(left + line * width + at, mask=keep), mask=keep)
    tl.store(dst + line * 2 * width + at * 2 + 1, tl.load(right + line * width + at, mask=keep), mask=keep)


@triton.jit
def first_half_kernel(src, dst, width, ACROSS: tl.constexpr, TILE: tl.constexpr):
    line, part = places.corner(ACROSS)
    at = part * TILE + tl.arange(0, TILE)
    keep = at < width
    tl.store(dst + line * width + at, tl.load(src + line * 2 * width + at * 2, mask=keep), mask=keep)


@triton.jit
def second_half_kernel(src, dst, width, ACROSS: tl.constexpr, TILE: tl.constexpr):
    line, part = places.corner(ACROSS)
    at = part * TILE + tl.arange(0, TILE)
    keep = at < width
    tl.store(dst + line * width + at, tl.load(src + line * 2 * width + at * 2 + 1, mask=keep), mask=keep)
