"""Softmax of rows wider than a tile: a running maximum and sum, then a second pass; launched with a bare list of arguments."""

import torch
import triton
import triton.language as tl

META = {"covers": ("softmax", "kernel[grid](*args)"), "outcome": {"soften": "converted"}, "rtol": 1e-6}


@triton.jit
def soften(out, src, row_step, columns, TILE: tl.constexpr):
    row = tl.program_id(0).to(tl.int64)
    src += row * row_step
    out += row * row_step
    top = -float("inf")
    total = 0.0
    for start in range(0, columns, TILE):
        at = start + tl.arange(0, TILE)
        x = tl.load(src + at, mask=at < columns, other=-float("inf")).to(tl.float32)
        higher = tl.maximum(top, tl.max(x, axis=0))
        total = total * tl.exp(top - higher) + tl.sum(tl.exp(x - higher), axis=0)
        top = higher
    for start in range(0, columns, TILE):
        at = start + tl.arange(0, TILE)
        x = tl.load(src + at, mask=at < columns, other=-float("inf")).to(tl.float32)
        tl.store(out + at, tl.exp(x - top) / total, mask=at < columns)


def make_inputs(device):
    return {"scores": torch.randn(13, 77, device=device) * 4}


def launch(scores):
    out = torch.full_like(scores, float("nan"))
    arguments = (out, scores, scores.stride(0), scores.shape[1], 32)
    grid = (scores.shape[0],)
    soften[grid](*arguments)
    return out


def reference(scores):
    return torch.softmax(scores.double(), -1).float()
