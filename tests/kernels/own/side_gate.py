"""A gate whose neighbours in time lie a whole row of heads apart, summed along time in each chunk."""

import torch
import triton
import triton.language as tl

META = {"covers": ("strided gate", "reverse scan"), "outcome": {"gate_sums": "converted"}, "rtol": 1e-5}


@triton.jit
def gate_sums(gate, dst, length, heads, SPAN: tl.constexpr, REVERSE: tl.constexpr):
    part, both = tl.program_id(0), tl.program_id(1)
    item, head = both // heads, both % heads
    time = part * SPAN + tl.arange(0, SPAN)
    where = (item * length + time) * heads + head
    step = tl.load(gate + where, mask=time < length, other=0.0)
    total = tl.cumsum(step, axis=0)
    if REVERSE:
        total = tl.sum(step, axis=0) - total + step
    tl.store(dst + where, total, mask=time < length)


def make_inputs(device):
    return {"gate": -torch.rand(2, 21, 3, device=device)}


def launch(gate):
    items, length, heads = gate.shape
    outs = []
    for reverse in (False, True):
        dst = torch.full_like(gate, float("nan"))
        gate_sums[(triton.cdiv(length, 8), items * heads)](gate, dst, length, heads, SPAN=8, REVERSE=reverse)
        outs.append(dst)
    return tuple(outs)


def reference(gate):
    chunks = gate.split(8, 1)
    forward = torch.cat([chunk.cumsum(1) for chunk in chunks], 1)
    return forward, torch.cat([chunk.flip(1).cumsum(1).flip(1) for chunk in chunks], 1)
