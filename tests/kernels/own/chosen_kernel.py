"""One launch stands for either of two kernels."""

import torch
import triton
import triton.language as tl

META = {"covers": ("alias launch",), "outcome": {"add_up": "converted", "add_down": "converted"}}


@triton.jit
def add_up(src, dst, SPAN: tl.constexpr):
    at = tl.program_id(0) * SPAN + tl.arange(0, SPAN)
    tl.store(dst + at, tl.load(src + at) + tl.program_id(0))


@triton.jit
def add_down(src, dst, SPAN: tl.constexpr):
    at = tl.program_id(0) * SPAN + tl.arange(0, SPAN)
    tl.store(dst + at, tl.load(src + at) - tl.program_id(0))


def make_inputs(device):
    return {"src": torch.randn(48, device=device)}


def _run(src, up):
    dst = torch.full_like(src, float("nan"))
    fn = add_up if up else add_down
    grid = (triton.cdiv(src.numel(), 16),)
    fn[grid](src, dst, SPAN=16)
    return dst


def _run_branch(src, up):
    dst = torch.full_like(src, float("nan"))
    if up:
        chosen = add_up
    else:
        chosen = add_down
    chosen[(src.numel() // 16,)](src=src, dst=dst, SPAN=16)
    return dst


def launch(src):
    return tuple(run(src, up) for run in (_run, _run_branch) for up in (True, False))


def reference(src):
    step = torch.arange(3, device=src.device).repeat_interleave(16)
    return src + step, src - step, src + step, src - step
