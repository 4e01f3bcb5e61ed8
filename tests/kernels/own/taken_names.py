"""Names that the output would like to use are taken: task names, axis names, by parameters, variables and imports."""

import torch
import triton
import triton.language as tl

META = {
    "covers": ("taken names",),
    "outcome": {"fill": "converted", "spill": "converted", "till": "converted"},
}

spill_task = 5
"""A module variable with the name of a task."""


@triton.jit
def fill(fill_task, grid_0, SPAN: tl.constexpr):
    at = tl.program_id(0) * SPAN + tl.arange(0, SPAN)
    tl.store(fill_task + at, at + 1.0 + grid_0)


@triton.jit
def spill(dst, tasks, core, cores, SPAN: tl.constexpr):
    start = tl.program_id(0) * SPAN
    at = start + tl.arange(0, SPAN)
    tl.store(dst + at, at * 1.0 + tasks + core + cores)


@triton.jit
def till(dst, axes, SPAN: tl.constexpr):
    i = tl.program_id(0)
    for task in range(SPAN):
        tl.store(dst + i * SPAN + task, axes + task + i)


def make_inputs(device):
    return {"like": torch.zeros(24, device=device)}


def launch(like):
    outs = [torch.full_like(like, float("nan")) for _ in range(3)]
    n = 6
    grid = (n,)
    n = 3
    fill[grid](outs[0], n, SPAN=4)
    spill[grid](outs[1], 1, 2, spill_task, SPAN=4)
    till[grid](outs[2], axes=7, SPAN=4)
    return tuple(outs)


def reference(like):
    at = torch.arange(24.0, device=like.device)
    return at + 4, at + 8, 7 + at % 4 + at // 4
