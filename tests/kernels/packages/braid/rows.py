"""Host functions."""

import torch
import triton

import braid.kernels.weave as weave

TILE = 4


def interleave(left, right):
    lines, width = left.shape
    dst = torch.full((lines, 2 * width), float("nan"), device=left.device)
    across = triton.cdiv(width, TILE)
    weave.weave_kernel[(lines * across,)](left, right, dst, width, ACROSS=across, TILE=TILE)
    return dst


def separate(both, second=False):
    from .kernels.weave import first_half_kernel, second_half_kernel

    lines, width = both.shape[0], both.shape[1] // 2
    dst = torch.full((lines, width), float("nan"), device=both.device)
    across = triton.cdiv(width, TILE)
    kernel = second_half_kernel if second else first_half_kernel
    kernel[(lines * across,)](both, dst, width, ACROSS=across, TILE=TILE)
    return dst
