"""Three axes, grid kept in a local name, axes read out of order."""

import torch
import triton
import triton.language as tl

META = {"covers": ("grid name", "3-D"), "outcome": {"centre_volume": "converted"}, "rtol": 1e-6}


@triton.jit
def centre_volume(
    src,
    dst,
    s_a,
    s_b,
    s_c,  # strides of the three outer axes
    DEPTH: tl.constexpr,
):
    c = tl.program_id(2)
    a = tl.program_id(axis=0)
    b = tl.program_id(1)
    lane = tl.arange(0, DEPTH)
    base = a * s_a + b * s_b + c * s_c
    row = tl.load(src + base + lane)
    tl.store(dst + base + lane, row - tl.sum(row, axis=0) / DEPTH)


def make_inputs(device):
    return {"src": torch.randn(3, 4, 2, 16, device=device)}


def launch(src):
    dst = torch.full_like(src, float("nan"))
    outer = src.shape[:3]
    grid = (outer[0], outer[1], outer[2])
    centre_volume[grid](src, dst, src.stride(0), src.stride(1), src.stride(2), DEPTH=src.shape[3])
    return dst


def reference(src):
    return src - src.mean(-1, keepdim=True)
