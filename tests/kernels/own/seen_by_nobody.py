"""Launches that are not followed: the kernels are listed and left alone, never passed over in silence."""

import torch
import triton
import triton.language as tl
from triton.language import core, program_id, store

META = {
    "covers": (
        "bound launches",
        "kernel.run",
        "globals()",
        "names of triton.language imported one by one",
        "triton.language.core",
    ),
    "outcome": {
        "bound_up": "not-converted",
        "bound_down": "not-converted",
        "member": "not-converted",
        "by_text": "not-converted",
        "starred": "converted",
        "inner": "converted",
    },
}


@triton.jit
def bound_up(dst):
    tl.store(dst + tl.program_id(0), tl.program_id(0) + 1.0)


@triton.jit
def bound_down(dst):
    tl.store(dst + tl.program_id(0), tl.program_id(0) - 1.0)


@triton.jit
def member(dst):
    tl.store(dst + tl.program_id(0), tl.program_id(0) * 2.0)


@triton.jit
def by_text(dst):
    tl.store(dst + tl.program_id(0), tl.program_id(0) * 3.0)


@triton.jit
def starred(dst):
    store(dst + program_id(0), program_id(0) * 4.0)


@triton.jit
def inner(dst):
    tl.store(dst + core.program_id(0), core.program_id(0) * 5.0)


def make_inputs(device):
    return {"jobs": 6, "device": device}


def launch(jobs, device):
    outs = list(torch.zeros(6, jobs, device=device))
    for up in (True, False):
        chosen = bound_up if up else bound_down
        start = chosen[(jobs,)]
        start(outs[0 if up else 5])
    member.__getitem__((jobs,))(outs[1])
    globals()["by_text"][(jobs,)](outs[2])
    starred[(jobs,)](outs[3])
    inner[(jobs,)](outs[4])
    return torch.stack(outs)


def reference(jobs, device):
    count = torch.arange(jobs, dtype=torch.float32, device=device)
    return torch.stack([count + 1.0, count * 2.0, count * 3.0, count * 4.0, count * 5.0, count - 1.0])
