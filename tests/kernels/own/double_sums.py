"""Sums in float64, which the target's vector cores do not have."""

import torch
import triton
import triton.language as tl

META = {"covers": ("fp64",), "outcome": {"exact_rows": None}, "rtol": 1e-12}


@triton.jit
def exact_rows(src, dst, width, SPAN: tl.constexpr):
    line = tl.program_id(0)
    total = tl.zeros((SPAN,), dtype=tl.float64)
    for start in range(0, width, SPAN):
        at = start + tl.arange(0, SPAN)
        total += tl.load(src + line * width + at, mask=at < width, other=0.0).to(tl.float64)
    tl.store(dst + line, tl.sum(total, axis=0))


def make_inputs(device):
    return {"src": torch.randn(5, 50, device=device)}


def launch(src):
    dst = torch.full((src.shape[0],), float("nan"), dtype=torch.float64, device=src.device)
    exact_rows[(src.shape[0],)](src, dst, src.shape[1], SPAN=16)
    return dst


def reference(src):
    return src.double().sum(1)
