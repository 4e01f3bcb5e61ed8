"""Grids that only the launch knows: handed in, from a table, a slice of a shape, grown, of another form per branch, a function."""

import torch
import triton
import triton.language as tl

META = {
    "covers": ("grid handed in", "grid from a table", "grid of changing form", "grid function handed in"),
    "outcome": {"number": "converted", "mark": "converted"},
}


@triton.jit
def number(dst, gain, SPAN: tl.constexpr = 4):
    """Every lane gets the number of its program, counted over all axes that a grid may have."""
    across, down = tl.num_programs(0), tl.num_programs(1)
    job = tl.program_id(0) + across * (tl.program_id(1) + down * tl.program_id(2))
    tl.store(dst + job * SPAN + tl.arange(0, SPAN), gain * job)


@triton.jit
def mark(dst, count, SPAN: tl.constexpr):
    at = tl.program_id(0) * SPAN + tl.arange(0, SPAN)
    tl.store(dst + at, tl.load(dst + at, mask=at < count) + 1.0, mask=at < count)


def make_inputs(device):
    return {"like": torch.zeros(24, device=device)}


def _handed_in(like, grid, gain):
    dst = torch.full_like(like, float("nan"))
    number[grid](dst, gain)
    return dst


def _table(like, which):
    dst = torch.full_like(like, float("nan"))
    grids = {"flat": (6,), "deep": (1, 2, 3)}
    number[grids[which]](dst, 2)
    return dst


def _branches(like, flat):
    dst = torch.full_like(like, float("nan"))
    grid = (2,) if flat else (2, 3)
    if flat:
        grid += (3,)
    number[grid](dst, gain=3, SPAN=4)
    return dst


def _marked(like, grid):
    dst = torch.zeros_like(like)
    mark[grid](dst, dst.numel(), SPAN=8)
    mark[dst.shape](dst, dst.numel(), SPAN=1)
    return dst


def launch(like):
    by_meta = _handed_in(like, lambda meta: (24 // meta["SPAN"],), 1)
    whole = _marked(like, lambda meta: (triton.cdiv(meta["count"], meta["SPAN"]),))
    return (
        _handed_in(like, (3, 2), 1), _handed_in(like, (6,), 5), _handed_in(like, torch.Size((1, 3, 2)), 7), by_meta,
        _table(like, "flat"), _table(like, "deep"), _branches(like, True), _branches(like, False), whole,
    )  # fmt: skip


def reference(like):
    job = torch.arange(24, device=like.device).float() // 4
    return (job, 5 * job, 7 * job, job, 2 * job, 2 * job, 3 * job, 3 * job, torch.full_like(like, 2.0))
