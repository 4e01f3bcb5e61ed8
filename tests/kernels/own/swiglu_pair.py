"""A gated activation, forward and backward in one file, through a helper; the two halves lie in one tensor."""

import torch
import triton
import triton.language as tl

META = {
    "covers": ("swiglu", "helpers that return pairs", "two grid axes", "half precision"),
    "outcome": {"gate_forward": "converted", "gate_backward": "converted"},
    "rtol": 2e-3,
}


@triton.jit
def swish(x):
    s = tl.sigmoid(x)
    return x * s, s


@triton.jit
def gate_forward(pair, out, half, TILE: tl.constexpr):
    row, block = tl.program_id(0), tl.program_id(1)
    at = block * TILE + tl.arange(0, TILE)
    live = at < half
    gate = tl.load(pair + row * 2 * half + at, mask=live, other=0.0).to(tl.float32)
    up = tl.load(pair + row * 2 * half + half + at, mask=live, other=0.0).to(tl.float32)
    curved, _ = swish(gate)
    tl.store(out + row * half + at, (curved * up).to(out.dtype.element_ty), mask=live)


@triton.jit
def gate_backward(pair, d_out, d_pair, half, TILE: tl.constexpr):
    row, block = tl.program_id(0), tl.program_id(1)
    at = block * TILE + tl.arange(0, TILE)
    live = at < half
    gate = tl.load(pair + row * 2 * half + at, mask=live, other=0.0).to(tl.float32)
    up = tl.load(pair + row * 2 * half + half + at, mask=live, other=0.0).to(tl.float32)
    grad = tl.load(d_out + row * half + at, mask=live, other=0.0).to(tl.float32)
    curved, s = swish(gate)
    tl.store(
        d_pair + row * 2 * half + at,
        (grad * up * (s + curved * (1 - s))).to(d_pair.dtype.element_ty),
        mask=live,
    )
    tl.store(d_pair + row * 2 * half + half + at, (grad * curved).to(d_pair.dtype.element_ty), mask=live)


def make_inputs(device):
    return {
        "pair": torch.randn(5, 2 * 27, device=device, dtype=torch.float16),
        "d_out": torch.randn(5, 27, device=device, dtype=torch.float16),
    }


def launch(pair, d_out):
    rows, half = d_out.shape
    out, d_pair = torch.full_like(d_out, float("nan")), torch.full_like(pair, float("nan"))
    tile = 16
    grid = (rows, triton.cdiv(half, tile))
    gate_forward[grid](pair, out, half, TILE=tile)
    gate_backward[grid](pair, d_out, d_pair, half, TILE=tile)
    return out, d_pair


def reference(pair, d_out):
    leaf = pair.double().requires_grad_()
    gate, up = leaf.chunk(2, -1)
    out = torch.nn.functional.silu(gate) * up
    out.backward(d_out.double())
    return out.detach().half(), leaf.grad.half()
