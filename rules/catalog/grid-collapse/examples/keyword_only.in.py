"""Keyword-only parameters stay so in the task function, behind a plain one that has a default."""

import triton
import triton.language as tl


@triton.jit
def fill(dst, value=4, *, scale, B: tl.constexpr = 2):
    tl.store(dst + tl.program_id(0), value * scale + B)


def run(dst):
    fill[(dst.numel(),)](dst, scale=3)
