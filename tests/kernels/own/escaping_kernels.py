"""Uses of a kernel that are no plain launch: handed over, bound with its grid, run by a loop, called by a kernel."""

import functools

import torch
import triton
import triton.language as tl

META = {
    "covers": ("kernel passed on", "bound launch", "launch in a loop over kernels", "kernel called by a kernel"),
    "outcome": {"count_up": None, "count_down": None, "count_twice": None},
}


@triton.jit
def count_up(dst, STEP: tl.constexpr):
    job = tl.program_id(0)
    tl.store(dst + job, job * STEP)


@triton.jit
def count_down(dst, STEP: tl.constexpr):
    job = tl.program_id(0)
    tl.store(dst + job, -job * STEP)


@triton.jit
def count_twice(dst, STEP: tl.constexpr):
    count_up(dst, 2 * STEP)


def run(kernel, *args, **options):
    kernel[(7,)](*args, **options)


def make_inputs(device):
    return {"device": device}


def launch(device):
    outs = [torch.full((7,), -99, dtype=torch.int32, device=device) for _ in range(7)]
    count_up[(7,)](outs[0], STEP=3)
    run(count_up, outs[1], STEP=3)
    bound = count_up[(7,)]
    bound(outs[2], STEP=3)
    functools.partial(count_up[(7,)], STEP=3)(outs[3])
    for kernel, dst in ((count_up, outs[4]), (count_down, outs[5])):
        kernel[(7,)](dst, STEP=3)
    count_twice[(7,)](outs[6], STEP=3)
    return tuple(outs)


def reference(device):
    job = torch.arange(7, dtype=torch.int32, device=device)
    return (job * 3,) * 5 + (job * -3, job * 6)
