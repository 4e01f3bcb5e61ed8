"""Early return at the top level of the kernel, once plain and once after a store."""

import torch
import triton
import triton.language as tl

META = {"covers": ("early return top level",), "outcome": {"pick_slots": "converted"}}


@triton.jit
def pick_slots(table, slots, dst, limit, WIDTH: tl.constexpr):
    job = tl.program_id(0)
    lane = tl.arange(0, WIDTH)
    slot = tl.load(slots + job)
    if slot < 0:
        return
    # A slot beyond the table reads as ones.
    if slot >= limit:
        tl.store(dst + job * WIDTH + lane, tl.full((WIDTH,), 1.0, tl.float32))
        return
    row = tl.load(table + slot * WIDTH + lane)
    tl.store(dst + job * WIDTH + lane, row)


def make_inputs(device):
    slots = torch.tensor([2, -1, 9, 0, -7, 3, 4], dtype=torch.int32, device=device)
    return {"table": torch.randn(4, 8, device=device), "slots": slots}


def launch(table, slots):
    dst = torch.zeros(slots.numel(), table.shape[1], device=table.device)
    pick_slots[(slots.numel(),)](table, slots, dst, table.shape[0], WIDTH=table.shape[1])
    return dst


def reference(table, slots):
    rows = []
    for slot in slots.tolist():
        blank = torch.zeros_like(table[0]) if slot < 0 else torch.ones_like(table[0])
        rows.append(table[slot] if 0 <= slot < len(table) else blank)
    return torch.stack(rows)
