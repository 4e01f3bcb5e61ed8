"""Arguments by position, by star and by double star."""

import torch
import triton
import triton.language as tl

META = {"covers": ("positional launch", "kernel[grid](*args)"), "outcome": {"blend": "converted"}}


@triton.jit
def blend(left, right, dst, share, SPAN: tl.constexpr, FLIP: tl.constexpr = False):
    at = tl.program_id(0) * SPAN + tl.arange(0, SPAN)
    a = tl.load(left + at)
    b = tl.load(right + at)
    if FLIP:
        a, b = b, a
    tl.store(dst + at, a * share + b * (1.0 - share))


def make_inputs(device):
    return {"left": torch.randn(40, device=device), "right": torch.randn(40, device=device)}


def launch(left, right):
    outs = [torch.full_like(left, float("nan")) for _ in range(3)]
    grid = (left.numel() // 8,)
    blend[grid](left, right, outs[0], 0.25, 8)
    args = (left, right, outs[1], 0.25, 8, True)
    blend[grid](*args)
    options = {"SPAN": 8, "FLIP": True}
    blend[grid](left, right, outs[2], share=0.5, **options)
    return tuple(outs)


def reference(left, right):
    return left * 0.25 + right * 0.75, right * 0.25 + left * 0.75, right * 0.5 + left * 0.5
