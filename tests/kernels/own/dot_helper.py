"""The product of two tiles is made by a helper, so the kernel needs the cube cores although it has no dot itself."""

import torch
import triton
import triton.language as tl

META = {
    "covers": ("dot in a helper", "cube cores"),
    "outcome": {"gram": "converted"},
    "rtol": 1e-5,
    "cube": ("gram",),
}


@triton.jit
def multiply(left, right, total):
    return total + tl.dot(left, right)


@triton.jit
def gram(src, dst, length, WIDTH: tl.constexpr, SPAN: tl.constexpr):
    item = tl.program_id(0)
    lane = tl.arange(0, WIDTH)
    total = tl.zeros((WIDTH, WIDTH), dtype=tl.float32)
    for start in range(0, length, SPAN):
        time = start + tl.arange(0, SPAN)
        tile = tl.load(
            src + (item * length + time)[:, None] * WIDTH + lane[None, :],
            mask=(time < length)[:, None],
            other=0.0,
        )
        total = multiply(tl.trans(tile), tile, total)
    tl.store(dst + item * WIDTH * WIDTH + lane[:, None] * WIDTH + lane[None, :], total)


def make_inputs(device):
    return {"src": torch.randn(5, 23, 16, device=device)}


def launch(src):
    items, length, width = src.shape
    dst = torch.full((items, width, width), float("nan"), device=src.device)
    gram[(items,)](src, dst, length, WIDTH=width, SPAN=16)
    return dst


def reference(src):
    return src.transpose(1, 2) @ src
