"""Pointer parameters move: by the program's share at first, then on in a loop."""

import torch
import triton
import triton.language as tl

META = {"covers": ("pointer parameters advanced",), "outcome": {"decay": "converted"}, "rtol": 1e-5}


@triton.jit
def decay(src, rate, dst, steps, HEADS: tl.constexpr, WIDTH: tl.constexpr):
    head, item = tl.program_id(0), tl.program_id(1)
    src = src + (item * steps * HEADS + head) * WIDTH
    dst += (item * steps * HEADS + head) * WIDTH
    rate += item * HEADS + head
    lane = tl.arange(0, WIDTH)
    keep = tl.load(rate)
    state = tl.zeros((WIDTH,), dtype=tl.float32)
    while steps > 0:
        state = state * keep + tl.load(src + lane)
        tl.store(dst + lane, state)
        src += HEADS * WIDTH
        dst += HEADS * WIDTH
        steps -= 1


def make_inputs(device):
    return {"src": torch.randn(2, 5, 3, 8, device=device), "rate": torch.rand(2, 3, device=device)}


def launch(src, rate):
    items, steps, heads, width = src.shape
    dst = torch.full_like(src, float("nan"))
    decay[(heads, items)](src, rate, dst, steps, HEADS=heads, WIDTH=width)
    return dst


def reference(src, rate):
    state, rows = torch.zeros_like(src[:, 0]), []
    for step in range(src.shape[1]):
        state = state * rate[..., None] + src[:, step]
        rows.append(state)
    return torch.stack(rows, 1)
