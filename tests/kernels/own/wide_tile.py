"""A tile larger than the unified buffer of the target: right here, a matter for a later rule there."""

import torch
import triton
import triton.language as tl

META = {"covers": ("UB overflow",), "outcome": {"gate_wide": None}, "rtol": 1e-5}


@triton.jit
def gate_wide(value, gate, dst, count, SPAN: tl.constexpr):
    at = tl.program_id(0) * SPAN + tl.arange(0, SPAN)
    live = at < count
    x = tl.load(value + at, mask=live, other=0.0)
    g = tl.load(gate + at, mask=live, other=0.0)
    tl.store(dst + at, x / (1.0 + tl.exp(-g)), mask=live)


def make_inputs(device, count=140_003):
    return {"value": torch.randn(count, device=device), "gate": torch.randn(count, device=device)}


def launch(value, gate):
    dst = torch.full_like(value, float("nan"))
    span = 131072
    gate_wide[(triton.cdiv(value.numel(), span),)](value, gate, dst, value.numel(), SPAN=span)
    return dst


def reference(value, gate):
    return value * torch.sigmoid(gate)
