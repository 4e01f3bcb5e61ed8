"""Program ids come from helpers of the same module, one of which calls another one."""

import torch
import triton
import triton.language as tl

META = {"covers": ("program id through helpers",), "outcome": {"place_tiles": "converted"}}


@triton.jit
def whole_id():
    return tl.program_id(0).to(tl.int64)


@triton.jit
def place(ACROSS: tl.constexpr):
    flat = whole_id()
    return flat // ACROSS, flat % ACROSS


@triton.jit
def place_tiles(src, dst, width, ACROSS: tl.constexpr, TILE: tl.constexpr):
    line, part = place(ACROSS)
    at = part * TILE + tl.arange(0, TILE)
    value = tl.load(src + line * width + at, mask=at < width, other=0.0)
    tl.store(dst + line * width + at, value + line + tl.program_id(1) * 100, mask=at < width)


def make_inputs(device):
    return {"src": torch.randn(5, 19, device=device)}


def launch(src):
    lines, width = src.shape
    dst = torch.full_like(src, float("nan"))
    across = triton.cdiv(width, 8)
    place_tiles[(lines * across, 1)](src, dst, width, ACROSS=across, TILE=8)
    return dst


def reference(src):
    return src + torch.arange(len(src), device=src.device)[:, None]
