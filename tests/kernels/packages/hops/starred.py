"""A kernel that takes every name of a module, of which `__all__` lists some."""

import triton
import triton.language as tl

from .near import *  # noqa: F403


@triton.jit
def starred_kernel(dst):
    tl.store(dst + flat(), 1.0 + other())  # noqa: F405
