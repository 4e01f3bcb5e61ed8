"""Functions whose body stands on the line of their head."""

import torch
import triton
import triton.language as tl

META = {"covers": ("one-line helper", "one-line kernel"), "outcome": {"hop": "converted", "stamp": "converted"}}


@triton.jit
def here(): return tl.program_id(0)


@triton.jit
def hop(dst): tl.store(dst + tl.program_id(0), tl.program_id(0) + 1)


@triton.jit
def stamp(dst):
    job = here()
    if job == 2: return
    tl.store(dst + job, job * 5)


def make_inputs(device): return {"device": device}


def launch(device):
    outs = [torch.zeros(5, dtype=torch.int32, device=device) for _ in range(2)]
    hop[(5,)](outs[0])
    stamp[(5,)](outs[1])
    return tuple(outs)


def reference(device):
    job = torch.arange(5, dtype=torch.int32, device=device)
    return job + 1, torch.where(job == 2, 0, job * 5).int()
