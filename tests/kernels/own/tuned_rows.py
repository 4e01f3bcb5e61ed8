"""Heuristics over autotune over heuristics over jit; the grid depends on a tuned tile."""

import torch
import triton
import triton.language as tl

META = {
    "covers": ("heuristics", "autotune", "meta grid", "None pointer"),
    "outcome": {"bias_rows": "converted"},
}


@triton.heuristics({"HAS_BIAS": lambda args: args["bias"] is not None})
@triton.autotune(
    configs=[triton.Config({"TILE": tile}, num_warps=warps) for tile in (8, 16) for warps in (2, 4)],
    key=["width"],
)
@triton.heuristics({"ALIGNED": lambda args: args["width"] % args["TILE"] == 0})
@triton.jit
def bias_rows(
    src,
    bias,
    dst,
    width,
    TILE: tl.constexpr,
    HAS_BIAS: tl.constexpr,
    ALIGNED: tl.constexpr,
):
    part, row = tl.program_id(0), tl.program_id(1)
    at = part * TILE + tl.arange(0, TILE)
    keep = at < width
    value = tl.load(src + row * width + at, mask=keep, other=0.0)
    if HAS_BIAS:
        value += tl.load(bias + at, mask=keep, other=0.0)
    if ALIGNED:
        tl.store(dst + row * width + at, value)
    else:
        tl.store(dst + row * width + at, value, mask=keep)


def make_inputs(device):
    return {
        "src": torch.randn(6, 37, device=device),
        "bias": torch.randn(37, device=device),
        "even": torch.randn(2, 32, device=device),
    }


def _apply(src, bias):
    rows, width = src.shape
    dst = torch.full_like(src, float("nan"))

    def grid(meta):
        return (triton.cdiv(width, meta["TILE"]), rows)

    bias_rows[grid](src, bias, dst, width)
    return dst


def launch(src, bias, even):
    return _apply(src, bias), _apply(src, None), _apply(even, None)


def reference(src, bias, even):
    return src + bias, src, even
