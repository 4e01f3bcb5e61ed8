"""One axis; the grid is a lambda over the meta-parameters."""

import torch
import triton
import triton.language as tl

META = {"covers": ("grid lambda", "1-D"), "outcome": {"clip_flat": "converted"}}


@triton.jit
def clip_flat(src, dst, count, low, high, SPAN: tl.constexpr):
    at = tl.program_id(0) * SPAN + tl.arange(0, SPAN)
    live = at < count
    value = tl.load(src + at, mask=live, other=0.0)
    tl.store(dst + at, tl.minimum(tl.maximum(value, low), high), mask=live)


def make_inputs(device, count=107):
    return {"src": torch.randn(count, device=device), "low": -0.5, "high": 0.25}


def launch(src, low, high):
    dst = torch.full_like(src, float("nan"))
    clip_flat[lambda meta: (triton.cdiv(src.numel(), meta["SPAN"]),)](
        src, dst, src.numel(), low, high, SPAN=16
    )
    return dst


def reference(src, low, high):
    return src.clamp(low, high)
