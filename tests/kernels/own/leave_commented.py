"""Returns and branches that carry comments: every comment is kept, wherever it stands."""

import torch
import triton
import triton.language as tl

META = {
    "covers": ("comments on returns", "return None"),
    "outcome": {"first": "converted", "second": "converted", "third": "converted", "fourth": "converted"},
}


@triton.jit
def first(dst, size):
    job = tl.program_id(0)
    if job > size:
        return  # too far
    else:  # the ordinary case
        tl.store(dst + job, 1.0)
    tl.store(dst + job + 10, 2.0)
    # nothing follows
    return  # the end


@triton.jit
def second(dst, size):
    job = tl.program_id(0)
    if job > size:
        # leave at once
        return
    # a word between the branches
    else:
        tl.store(dst + job + 10, 3.0)
        # below the store


@triton.jit
def third(dst, size):
    job = tl.program_id(0)
    if job > size:
        tl.store(dst + job, 3.0)  # mark
        return  # marked
    else:
        tl.store(dst + job + 10, 1.0)  # write
    # between two exits
    if job == 4:
        return
    # last words


@triton.jit
def fourth(dst, size):
    job = tl.program_id(0)
    if job > size: return  # on one line
    if job == 3:
        # a return with a value that is none
        return None  # none
    elif job == 2:  # neither
        pass
    else:
        # other jobs
        tl.store(dst + job, 5.0)
        return
    tl.store(dst + job + 10, 7.0)


def make_inputs(device):
    return {"size": 5, "device": device}


def launch(size, device):
    outs = [torch.zeros(24, device=device) for _ in range(4)]
    first[(10,)](outs[0], size)
    second[(10,)](outs[1], size)
    third[(10,)](outs[2], size)
    fourth[(10,)](outs[3], size)
    return torch.stack(outs)


def reference(size, device):
    want = torch.zeros(4, 24)
    want[0, :6], want[0, 10:16] = 1.0, 2.0
    want[1, 10:16] = 3.0
    want[2, 6:10], want[2, 10:16] = 3.0, 1.0
    want[3, [0, 1, 4, 5]], want[3, 12] = 5.0, 7.0
    return want.to(device)
