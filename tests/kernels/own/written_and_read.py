"""A program reads back what it has just stored, behind a barrier; another one only updates its tensor in place."""

import torch
import triton
import triton.language as tl

META = {
    "covers": ("store then reload", "update in place"),
    "outcome": {"twice_through_memory": "converted", "in_place": "converted"},
}


@triton.jit
def twice_through_memory(src, dst, SPAN: tl.constexpr):
    at = tl.program_id(0) * SPAN + tl.arange(0, SPAN)
    tl.store(dst + at, tl.load(src + at) * 2.0)
    tl.debug_barrier()
    again = tl.load(dst + at)
    tl.store(dst + at, again + 1.0)


@triton.jit
def in_place(src, dst, SPAN: tl.constexpr):
    at = tl.program_id(0) * SPAN + tl.arange(0, SPAN)
    tl.store(dst + at, tl.load(src + at) - 3.0)


def make_inputs(device):
    return {"src": torch.randint(0, 9, (5, 8), device=device).float()}


def launch(src):
    dst = torch.empty_like(src)
    twice_through_memory[(src.shape[0],)](src, dst, SPAN=8)
    in_place[(src.shape[0],)](dst, dst, SPAN=8)
    return dst


def reference(src):
    return src * 2 - 2
