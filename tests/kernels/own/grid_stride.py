"""num_programs is part of what the kernel computes, on two axes."""

import torch
import triton
import triton.language as tl

META = {"covers": ("num_programs",), "outcome": {"strided_sum": "converted"}, "rtol": 1e-5}


@triton.jit
def strided_sum(src, dst, count, BLOCKS: tl.constexpr, SPAN: tl.constexpr):
    worker = tl.program_id(0) * tl.num_programs(1) + tl.program_id(1)
    workers = tl.num_programs(0) * tl.num_programs(1)
    total = 0.0
    for block in range(worker, BLOCKS, workers):
        at = block * SPAN + tl.arange(0, SPAN)
        total += tl.sum(tl.load(src + at, mask=at < count, other=0.0), axis=0)
    tl.store(dst + worker, total)
    if worker == workers - 1:
        tl.store(dst + workers, workers * 1.0)


def make_inputs(device):
    return {"src": torch.randn(150, device=device)}


def launch(src):
    dst = torch.full((7,), float("nan"), device=src.device)
    blocks = triton.cdiv(src.numel(), 8)
    strided_sum[(2, 3)](src, dst, src.numel(), BLOCKS=blocks, SPAN=8)
    return dst


def reference(src):
    blocks = list(src.split(8))
    sums = [sum(block.sum() for block in blocks[worker::6]) for worker in range(6)]
    return torch.stack([*sums, torch.tensor(6.0, device=src.device)])
