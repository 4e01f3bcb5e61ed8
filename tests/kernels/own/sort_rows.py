"""Rows sorted in one tile by the language's own sort, padded with the largest value."""

import torch
import triton
import triton.language as tl

META = {
    "covers": ("sort", "padding by infinity", "script with kernel and launch together"),
    "outcome": {"order_rows": "converted"},
}


@triton.jit
def order_rows(src, dst, width, TILE: tl.constexpr):
    row = tl.program_id(0)
    at = tl.arange(0, TILE)
    x = tl.load(src + row * width + at, mask=at < width, other=float("inf"))
    tl.store(dst + row * width + at, tl.sort(x), mask=at < width)


def make_inputs(device):
    return {"src": torch.randn(5, 13, device=device)}


def launch(src):
    dst = torch.full_like(src, float("nan"))
    order_rows[(src.shape[0],)](src, dst, src.shape[1], TILE=16)
    return dst


def reference(src):
    return src.sort(-1).values


if __name__ == "__main__":
    print(launch(**make_inputs("cpu")))
