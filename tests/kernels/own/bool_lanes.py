"""Masks that are loaded as booleans and stored as booleans."""

import torch
import triton
import triton.language as tl

META = {"covers": ("bool masks",), "outcome": {"keep_positive": None}}


@triton.jit
def keep_positive(src, allow, dst, flag, width, SPAN: tl.constexpr):
    line = tl.program_id(0)
    at = tl.arange(0, SPAN)
    inside = at < width
    open_ = tl.load(allow + line * width + at, mask=inside, other=0)
    value = tl.load(src + line * width + at, mask=inside & open_, other=-1.0)
    good = value > 0.0
    tl.store(flag + line * width + at, good, mask=inside)
    tl.store(dst + line * width + at, tl.where(good, value, 0.0), mask=inside)


def make_inputs(device):
    return {"src": torch.randn(6, 11, device=device), "allow": torch.rand(6, 11, device=device) > 0.5}


def launch(src, allow):
    dst = torch.full_like(src, float("nan"))
    flag = torch.zeros_like(allow)
    keep_positive[(src.shape[0],)](src, allow, dst, flag, src.shape[1], SPAN=16)
    return dst, flag


def reference(src, allow):
    good = allow & (src > 0)
    return torch.where(good, src, 0.0), good
