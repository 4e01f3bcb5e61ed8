"""float64 inside a kernel: the compiler aborts."""

import torch
import triton
import triton.language as tl


@triton.jit
def total(x_ptr, out_ptr, N: tl.constexpr):
    x = tl.load(x_ptr + tl.arange(0, N)).to(tl.float64)
    tl.store(out_ptr, tl.sum(x, axis=0))


def make_inputs(device):
    return {"x": torch.zeros(64, device=device)}


def launch(x):
    out = torch.zeros(1, dtype=torch.float64, device=x.device)
    total[(1,)](x, out, N=64)
    return out
