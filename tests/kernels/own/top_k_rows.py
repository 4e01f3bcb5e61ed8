"""The k largest of each row with their places, by k rounds of maximum and argmax; ties go to the left."""

import torch
import triton
import triton.language as tl

META = {
    "covers": ("top-k", "argmax", "static_range", "grid from a method"),
    "outcome": {"largest": "converted"},
}


@triton.jit
def largest(src, value, place, width, K: tl.constexpr, TILE: tl.constexpr):
    row = tl.program_id(0)
    at = tl.arange(0, TILE)
    x = tl.load(src + row * width + at, mask=at < width, other=-float("inf"))
    for rank in tl.static_range(K):
        best = tl.max(x, axis=0)
        where = tl.argmax(x, axis=0)
        tl.store(value + row * K + rank, best)
        tl.store(place + row * K + rank, where)
        x = tl.where(at == where, -float("inf"), x)


def make_inputs(device):
    return {"src": torch.randn(12, 37, device=device)}


def launch(src, k=3):
    rows, width = src.size()
    value = src.new_full((rows, k), float("nan"))
    place = torch.full((rows, k), -1, dtype=torch.int64, device=src.device)
    largest[src.size()[:1]](src, value, place, width, K=k, TILE=triton.next_power_of_2(width))
    return value, place


def reference(src, k=3):
    return tuple(torch.topk(src, k))
