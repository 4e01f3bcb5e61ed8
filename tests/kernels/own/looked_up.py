"""The kernel to launch is looked up in a table: what the launch stands for is for the tool to say."""

import torch
import triton
import triton.language as tl

META = {"covers": ("launch through a table",), "outcome": {"larger": None, "smaller": None}}


@triton.jit
def larger(left, right, dst, SPAN: tl.constexpr):
    at = tl.program_id(0) * SPAN + tl.arange(0, SPAN)
    tl.store(dst + at, tl.maximum(tl.load(left + at), tl.load(right + at)))


@triton.jit
def smaller(left, right, dst, SPAN: tl.constexpr):
    at = tl.program_id(0) * SPAN + tl.arange(0, SPAN)
    tl.store(dst + at, tl.minimum(tl.load(left + at), tl.load(right + at)))


TABLE = {"max": larger, "min": smaller}


def make_inputs(device):
    return {"left": torch.randn(24, device=device), "right": torch.randn(24, device=device)}


def launch(left, right):
    outs = []
    for name in ("max", "min"):
        dst = torch.full_like(left, float("nan"))
        TABLE[name][(3,)](left, right, dst, SPAN=8)
        outs.append(dst)
    return tuple(outs)


def reference(left, right):
    return torch.maximum(left, right), torch.minimum(left, right)
