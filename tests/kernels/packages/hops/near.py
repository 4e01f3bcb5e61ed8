"""Helpers that ask for the program id."""

import triton
import triton.language as tl

__all__ = ["flat", "other", "where"]


@triton.jit
def where(scale):
    return tl.program_id(0) * scale


@triton.jit
def flat():
    return tl.program_id(0)


@triton.jit
def other():
    return tl.program_id(0) * 2
