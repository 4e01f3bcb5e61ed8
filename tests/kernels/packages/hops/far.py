"""A helper of the same name as one in near, and another name for one from there."""

import triton
import triton.language as tl

from .near import flat

place = flat


@triton.jit
def where(scale):
    return tl.program_id(0) + scale
