"""Gram matrices of sequences, some of which have no row: the loop that adds products does not run for them."""

import torch
import triton
import triton.language as tl

META = {"rtol": 1e-4}


@triton.jit
def gram_kernel(x, lengths, o, MOST, ROWS: tl.constexpr, WIDTH: tl.constexpr):
    sequence = tl.program_id(0)
    length = tl.load(lengths + sequence)
    column = tl.arange(0, WIDTH)
    total = tl.zeros((WIDTH, WIDTH), dtype=tl.float32)
    for start in range(0, length, ROWS):
        row = start + tl.arange(0, ROWS)
        tile = tl.load(
            x + (sequence * MOST + row)[:, None] * WIDTH + column[None, :],
            mask=(row < length)[:, None],
            other=0.0,
        )
        total += tl.dot(tl.trans(tile), tile)
    tl.store(o + sequence * WIDTH * WIDTH + column[:, None] * WIDTH + column[None, :], total)


def make_inputs(device):
    lengths = torch.tensor([3, 0, 32, 17], dtype=torch.int32, device=device)
    return {"x": torch.randn(4, 32, 16, device=device), "lengths": lengths}


def launch(x, lengths):
    count, most, width = x.shape
    o = torch.empty(count, width, width, device=x.device)
    gram_kernel[(count,)](x, lengths, o, most, ROWS=16, WIDTH=width)
    return o


def reference(x, lengths):
    return torch.stack([rows[:n].T @ rows[:n] for rows, n in zip(x, lengths.tolist(), strict=False)])
