"""Sums per chunk of packed sequences; the kernel sets its length parameter anew for the sequence that it finds."""

import itertools

import torch
import triton
import triton.language as tl


@triton.jit
def chunk_sums_kernel(
    x, o, bounds, table, length, WIDTH: tl.constexpr, ROWS: tl.constexpr, PACKED: tl.constexpr
):
    chunk, column = tl.program_id(0), tl.program_id(1)
    place, first = chunk, 0
    if PACKED:
        sequence = tl.load(table + chunk * 2)
        chunk = tl.load(table + chunk * 2 + 1)
        first = tl.load(bounds + sequence)
        length = tl.load(bounds + sequence + 1) - first
    x += first * WIDTH + column
    row = chunk * ROWS + tl.arange(0, ROWS)
    tl.store(
        o + place * WIDTH + column, tl.sum(tl.load(x + row * WIDTH, mask=row < length, other=0.0), axis=0)
    )


def chunks_of(bounds, rows):
    pairs = list(itertools.pairwise(bounds))
    return [(n, c) for n, (a, b) in enumerate(pairs) for c in range(-(-(b - a) // rows))]


def make_inputs(device):
    bounds = [0, 5, 31, 32, 71]
    table = torch.tensor(chunks_of(bounds, 16), dtype=torch.int32)
    return {
        "x": torch.randn(bounds[-1], 3, device=device),
        "bounds": torch.tensor(bounds, dtype=torch.int32, device=device),
        "table": table.to(device),
    }


def launch(x, bounds, table):
    o = torch.empty(len(table), x.shape[1], device=x.device)
    chunk_sums_kernel[(len(table), x.shape[1])](
        x, o, bounds, table, len(x), WIDTH=x.shape[1], ROWS=16, PACKED=True
    )
    return o


def reference(x, bounds, table):
    rows = []
    for sequence, chunk in table.tolist():
        start = int(bounds[sequence]) + 16 * chunk
        rows.append(x[start : min(start + 16, int(bounds[sequence + 1]))].sum(0))
    return torch.stack(rows)
