"""A merged axis is taken apart by % and //, twice, with the second split reading the first."""

import torch
import triton
import triton.language as tl

META = {"covers": ("pid % NV decode", "1-D"), "outcome": {"swap_axes": "converted"}}


@triton.jit
def swap_axes(src, dst, A: tl.constexpr, B: tl.constexpr, C: tl.constexpr, WIDTH: tl.constexpr):
    pid = tl.program_id(0)
    c = pid % C
    pid //= C
    b, a = pid % B, pid // B
    lane = tl.arange(0, WIDTH)
    value = tl.load(src + ((a * B + b) * C + c) * WIDTH + lane)
    tl.store(dst + ((c * B + b) * A + a) * WIDTH + lane, value)


def make_inputs(device):
    return {"src": torch.randn(2, 3, 4, 8, device=device)}


def launch(src):
    a, b, c, width = src.shape
    dst = torch.full((c, b, a, width), float("nan"), device=src.device)
    swap_axes[(a * b * c,)](src, dst, A=a, B=b, C=c, WIDTH=width)
    return dst


def reference(src):
    return src.permute(2, 1, 0, 3).contiguous()
