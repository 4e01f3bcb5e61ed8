"""Tokens sorted by expert: a histogram per block, places by scan, then a scatter; three launches that share one block size."""

import torch
import triton
import triton.language as tl

META = {
    "covers": ("mixture of experts", "cumsum", "scatter", "loop over experts", "functools.partial of a grid"),
    "outcome": {"count_experts": "converted", "place_experts": "converted", "scatter_tokens": "converted"},
}


@triton.jit
def count_experts(choice, counts, tokens, EXPERTS: tl.constexpr, TILE: tl.constexpr):
    block = tl.program_id(0)
    at = block * TILE + tl.arange(0, TILE)
    mine = tl.load(choice + at, mask=at < tokens, other=EXPERTS)
    for expert in range(EXPERTS):
        tl.store(counts + block * EXPERTS + expert, tl.sum((mine == expert).to(tl.int32), 0))


@triton.jit
def place_experts(counts, starts, blocks, EXPERTS: tl.constexpr, WIDE: tl.constexpr):
    expert = tl.arange(0, WIDE)
    total = tl.zeros([WIDE], dtype=tl.int32)
    for block in range(0, blocks):
        total += tl.load(counts + block * EXPERTS + expert, mask=expert < EXPERTS, other=0)
    start = tl.cumsum(total, 0) - total
    for block in range(0, blocks):
        tl.store(starts + block * EXPERTS + expert, start, mask=expert < EXPERTS)
        start += tl.load(counts + block * EXPERTS + expert, mask=expert < EXPERTS, other=0)


@triton.jit
def scatter_tokens(choice, starts, order, tokens, EXPERTS: tl.constexpr, TILE: tl.constexpr):
    block = tl.program_id(0)
    at = block * TILE + tl.arange(0, TILE)
    mine = tl.load(choice + at, mask=at < tokens, other=EXPERTS)
    for expert in range(EXPERTS):
        hit = mine == expert
        place = tl.load(starts + block * EXPERTS + expert) + tl.cumsum(hit.to(tl.int32), 0) - 1
        tl.store(order + place, at, mask=hit)


def make_inputs(device):
    return {"choice": torch.randint(0, 5, (43,), device=device)}


def launch(choice):
    blocks, experts = triton.cdiv(len(choice), 8), 5
    counts = torch.full((blocks, experts), -1, dtype=torch.int32, device=choice.device)
    starts = torch.full_like(counts, -1)
    order = torch.full((len(choice),), -1, dtype=torch.int64, device=choice.device)
    count_experts[(blocks,)](choice, counts, len(choice), EXPERTS=experts, TILE=8)
    place_experts[(1,)](counts, starts, blocks, EXPERTS=experts, WIDE=8)
    scatter_tokens[(blocks,)](choice, starts, order, len(choice), EXPERTS=experts, TILE=8)
    return (order,)


def reference(choice):
    return (torch.sort(choice, stable=True).indices,)
