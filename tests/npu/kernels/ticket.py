"""The old value of an atomic is used under a condition, which the compiler cannot legalise."""

import torch
import triton
import triton.language as tl


@triton.jit
def number_them(flag_ptr, counter_ptr, out_ptr):
    if tl.load(flag_ptr + tl.program_id(0)) > 0:
        mine = tl.atomic_add(counter_ptr, 1)
        tl.store(out_ptr + mine, 1)


def make_inputs(device):
    return {name: torch.zeros(8, dtype=torch.int32, device=device) for name in ("flag", "counter")}


def launch(flag, counter):
    out = torch.zeros(8, dtype=torch.int32, device=counter.device)
    number_them[(8,)](flag, counter, out)
    return out
