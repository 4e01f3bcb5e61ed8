"""Rows to int8 with a scale each, and a product of int8 tiles that scales at the end."""

import torch
import triton
import triton.language as tl

META = {
    "covers": ("int8 quantisation", "int8 dot", "int32 accumulator"),
    "outcome": {"quantise": "converted", "multiply_int8": "converted"},
    "rtol": 2e-2,
}


@triton.jit
def quantise(src, dst, scale, width, TILE: tl.constexpr):
    row = tl.program_id(0)
    at = tl.arange(0, TILE)
    x = tl.load(src + row * width + at, mask=at < width, other=0.0)
    step = tl.maximum(tl.max(tl.abs(x), 0), 1e-10) / 127.0
    rounded = tl.floor(x / step + 0.5)
    tl.store(dst + row * width + at, rounded.to(tl.int8), mask=at < width)
    tl.store(scale + row, step)


@triton.jit
def multiply_int8(
    a, b, scale_a, scale_b, c, m, n, K: tl.constexpr, BM: tl.constexpr, BN: tl.constexpr, BK: tl.constexpr
):
    at_m = tl.program_id(0) * BM + tl.arange(0, BM)
    at_n = tl.program_id(1) * BN + tl.arange(0, BN)
    total = tl.zeros([BM, BN], dtype=tl.int32)
    for start in range(0, K, BK):
        at_k = start + tl.arange(0, BK)
        x = tl.load(
            a + at_m[:, None] * K + at_k[None, :], mask=(at_m < m)[:, None] & (at_k < K)[None, :], other=0
        )
        y = tl.load(
            b + at_n[None, :] * K + at_k[:, None], mask=(at_n < n)[None, :] & (at_k < K)[:, None], other=0
        )
        total += tl.dot(x, y)
    s_a = tl.load(scale_a + at_m, mask=at_m < m, other=0.0)
    s_b = tl.load(scale_b + at_n, mask=at_n < n, other=0.0)
    live = (at_m < m)[:, None] & (at_n < n)[None, :]
    tl.store(
        c + at_m[:, None] * n + at_n[None, :], total.to(tl.float32) * s_a[:, None] * s_b[None, :], mask=live
    )


def make_inputs(device):
    return {"a": torch.randn(20, 48, device=device), "b": torch.randn(24, 48, device=device)}


def _quantised(x):
    q = torch.zeros_like(x, dtype=torch.int8)
    scale = x.new_full((len(x),), float("nan"))
    quantise[(len(x),)](x, q, scale, x.shape[1], TILE=triton.next_power_of_2(x.shape[1]))
    return q, scale


def launch(a, b):
    (q_a, s_a), (q_b, s_b) = _quantised(a), _quantised(b)
    (m, k), n = a.shape, len(b)
    c = a.new_full((m, n), float("nan"))
    multiply_int8[triton.cdiv(m, 16), triton.cdiv(n, 16)](
        q_a, q_b, s_a, s_b, c, m, n, K=k, BM=16, BN=16, BK=32
    )
    return c


def reference(a, b):
    return (a.double() @ b.double().t()).float()
