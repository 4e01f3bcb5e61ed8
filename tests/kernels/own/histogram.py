"""Atomics whose result nobody reads: the order of the tasks does not matter."""

import torch
import triton
import triton.language as tl

META = {"covers": ("atomics",), "outcome": {"count_values": None}}


@triton.jit
def count_values(src, bins, top, count, SPAN: tl.constexpr):
    at = tl.program_id(0) * SPAN + tl.arange(0, SPAN)
    live = at < count
    value = tl.load(src + at, mask=live, other=0)
    tl.atomic_add(bins + value, 1, mask=live)
    tl.atomic_max(top, tl.max(value, axis=0))


def make_inputs(device):
    return {"src": torch.randint(0, 6, (75,), dtype=torch.int32, device=device)}


def launch(src):
    bins = torch.zeros(6, dtype=torch.int32, device=src.device)
    top = torch.zeros(1, dtype=torch.int32, device=src.device)
    count_values[(triton.cdiv(src.numel(), 16),)](src, bins, top, src.numel(), SPAN=16)
    return bins, top


def reference(src):
    return torch.bincount(src, minlength=6).int(), src.amax().reshape(1)
