"""A launch over no rows is a launch of no programs."""

import torch
import triton
import triton.language as tl

META = {"covers": ("zero-size work",), "outcome": {"negate": "converted"}}


@triton.jit
def negate(src, dst, width, TILE: tl.constexpr):
    line, part = tl.program_id(0), tl.program_id(1)
    at = part * TILE + tl.arange(0, TILE)
    tl.store(dst + line * width + at, -tl.load(src + line * width + at, mask=at < width), mask=at < width)


def make_inputs(device):
    return {name: torch.randn(lines, 10, device=device) for name, lines in (("some", 3), ("none", 0))}


def _negate(src):
    dst = torch.full_like(src, float("nan"))
    negate[(src.shape[0], triton.cdiv(src.shape[1], 4))](src, dst, src.shape[1], TILE=4)
    return dst


def launch(some, none):
    return _negate(some), _negate(none), _negate(some[:, :0].contiguous())


def reference(some, none):
    return -some, -none, -some[:, :0]
