"""Helpers whose last statement is a bare return, as functions that store often end."""

import torch
import triton
import triton.language as tl

META = {
    "covers": ["helper that ends in a return"],
    "outcome": {"ramp": "converted"},
}


@triton.jit
def put(y, start, slope, T, N: tl.constexpr):
    o = start + tl.arange(0, N)
    tl.store(y + o, o.to(tl.float32) * slope, mask=o < T)
    return


@triton.jit
def ramp(y, slope, T, N: tl.constexpr):
    put(y, tl.program_id(0) * N, slope, T, N)


def make_inputs(device):
    return {"n": 333, "slope": 0.5, "device": device}


def launch(n, slope, device):
    y = torch.full((n,), -1.0, device=device)
    ramp[(triton.cdiv(n, 64),)](y, slope, n, N=64)
    return y


def reference(n, slope, device):
    return torch.arange(n, device=device).float() * slope
