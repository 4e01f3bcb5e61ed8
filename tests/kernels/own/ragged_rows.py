"""Packed sequences: parameters and pointers are rebound from what the program loads."""

import torch
import triton
import triton.language as tl

META = {
    "covers": ("varlen", "parameter reassigned", "pointer parameters advanced", "heuristics"),
    "outcome": {"reverse_chunks": "converted"},
}


@triton.heuristics({"PACKED": lambda args: args["bounds"] is not None})
@triton.jit(do_not_specialize=["length"])
def reverse_chunks(
    src, dst, bounds, table, length, HEADS: tl.constexpr, SPAN: tl.constexpr, PACKED: tl.constexpr
):
    chunk, rest = tl.program_id(0), tl.program_id(1)
    item, head = rest // HEADS, rest % HEADS
    if PACKED:
        item, chunk = tl.load(table + chunk * 2).to(tl.int32), tl.load(table + chunk * 2 + 1).to(tl.int32)
        first, last = tl.load(bounds + item).to(tl.int32), tl.load(bounds + item + 1).to(tl.int32)
        length = last - first
    else:
        first = item * length
    src += first * HEADS + head
    dst += first * HEADS + head
    here = chunk * SPAN + tl.arange(0, SPAN)
    there = length - 1 - here
    value = tl.load(src + here * HEADS, mask=here < length, other=0.0)
    tl.store(dst + there * HEADS, value, mask=here < length)


def make_inputs(device):
    cuts = [0, 3, 20, 21, 40]
    table = [(n, c) for n in range(4) for c in range(-(-(cuts[n + 1] - cuts[n]) // 8))]
    return {
        "packed": torch.randn(1, 40, 3, device=device),
        "dense": torch.randn(2, 13, 3, device=device),
        "bounds": torch.tensor(cuts, device=device),
        "table": torch.tensor(table, device=device),
    }


def _reverse(src, bounds, table):
    batch, length, heads = src.shape
    dst = torch.full_like(src, float("nan"))
    chunks = triton.cdiv(length, 8) if bounds is None else len(table)
    grid = (chunks, batch * heads)
    reverse_chunks[grid](src=src, dst=dst, bounds=bounds, table=table, length=length, HEADS=heads, SPAN=8)
    return dst


def launch(packed, dense, bounds, table):
    return _reverse(packed, bounds, table), _reverse(dense, None, None)


def reference(packed, dense, bounds, table):
    cuts = bounds.tolist()
    parts = [packed[:, a:b].flip(1) for a, b in zip(cuts[:-1], cuts[1:], strict=True)]
    return torch.cat(parts, 1), dense.flip(1)
