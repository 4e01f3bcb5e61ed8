"""Each program adds what the one before it has written: the axis of the grid is a recurrence."""

import torch
import triton
import triton.language as tl

META = {"covers": ("order between programs",), "outcome": {"carry_rows": "needs-review"}}


@triton.jit
def carry_rows(rows, width, SPAN: tl.constexpr):
    line = tl.program_id(0)
    at = tl.arange(0, SPAN)
    here = rows + line * width + at
    before = tl.load(rows + (line - 1) * width + at, mask=(line > 0) & (at < width), other=0.0)
    tl.store(here, tl.load(here, mask=at < width, other=0.0) + before, mask=at < width)


def make_inputs(device):
    return {"rows": torch.randint(0, 9, (7, 5), device=device).float()}


def launch(rows):
    rows = rows.clone()
    carry_rows[(rows.shape[0],)](rows, rows.shape[1], SPAN=8)
    return rows


def reference(rows):
    return rows.cumsum(0)
