"""A product cut along the inner size: programs of one place add into it by atomics, and a second kernel casts the sum."""

import torch
import triton
import triton.language as tl

META = {
    "covers": ("matmul split-K", "atomic add", "three grid axes"),
    "outcome": {"multiply_part": "converted", "cast": "converted"},
    "rtol": 1e-2,
}


@triton.jit
def multiply_part(a, b, c, m, n, k, B: tl.constexpr, PARTS: tl.constexpr):
    row = tl.program_id(0)
    column = tl.program_id(1)
    part = tl.program_id(2)
    at_m = row * B + tl.arange(0, B)
    at_n = column * B + tl.arange(0, B)
    total = tl.zeros((B, B), dtype=tl.float32)
    for start in range(part * B, k, PARTS * B):
        at_k = start + tl.arange(0, B)
        x = tl.load(
            a + at_m[:, None] * k + at_k[None, :], mask=(at_m < m)[:, None] & (at_k < k)[None, :], other=0.0
        )
        y = tl.load(
            b + at_k[:, None] * n + at_n[None, :], mask=(at_k < k)[:, None] & (at_n < n)[None, :], other=0.0
        )
        total += tl.dot(x, y)
    tl.atomic_add(
        c + at_m[:, None] * n + at_n[None, :], total, mask=(at_m < m)[:, None] & (at_n < n)[None, :]
    )


@triton.jit
def cast(src, dst, count, TILE: tl.constexpr):
    at = tl.program_id(0) * TILE + tl.arange(0, TILE)
    tl.store(dst + at, tl.load(src + at, mask=at < count).to(dst.dtype.element_ty), mask=at < count)


def make_inputs(device):
    # Whole numbers: the order in which the parts are added does not matter.
    return {
        "a": torch.randint(-4, 5, (20, 70), device=device).half(),
        "b": torch.randint(-4, 5, (70, 36), device=device).half(),
    }


def launch(a, b):
    (m, k), n = a.shape, b.shape[1]
    total = torch.zeros(m, n, device=a.device)
    out = torch.full((m, n), float("nan"), device=a.device, dtype=a.dtype)
    grid = triton.cdiv(m, 16), triton.cdiv(n, 16), 3
    multiply_part[grid](a, b, total, m, n, k, B=16, PARTS=grid[2])
    cast[(triton.cdiv(m * n, 256),)](total, out, m * n, TILE=256)
    return out


def reference(a, b):
    return (a.double() @ b.double()).half()
