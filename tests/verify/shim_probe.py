"""Runs small kernels under the shims and prints what came out; the test holds it against torch. Run as a
script."""

from __future__ import annotations

import json
import sys

from tritonport.verify.child import shims

shims.install()

import torch  # noqa: E402
import triton  # noqa: E402
import triton.language as tl  # noqa: E402

captured_exp = tl.exp


@triton.jit
def cast(x, y, N: tl.constexpr):
    i = tl.arange(0, N)
    tl.store(y + i, tl.load(x + i).to(tl.bfloat16))


@triton.jit
def arithmetic(x, y, z, N: tl.constexpr):
    i = tl.arange(0, N)
    a, b = tl.load(x + i), tl.load(y + i)
    tl.store(z + i, a * b + a - b / (a * a + 1.0).to(tl.bfloat16))
    tl.store(z + N + i, tl.where(a > b, a, b))
    tl.store(z + 2 * N + i, tl.abs(a))
    tl.store(z + 3 * N + i, -a)
    tl.store(z + 4 * N + i, tl.maximum(a, b))


@triton.jit
def dot(x, y, z, N: tl.constexpr):
    i = tl.arange(0, N)
    p = i[:, None] * N + i[None, :]
    tl.store(z + p, tl.dot(tl.load(x + p), tl.load(y + p)))


@triton.jit
def reduce(x, y, N: tl.constexpr):
    i = tl.arange(0, N)
    p = i[:, None] * N + i[None, :]
    a = tl.load(x + p)
    tl.store(y + i, tl.sum(a, axis=1).to(tl.float32))
    tl.store(y + N + i, tl.max(a, axis=0).to(tl.float32))
    tl.store(y + 2 * N + p, tl.cumsum(a.to(tl.float32), axis=0))


@triton.jit
def views(x, y, z, M: tl.constexpr, N: tl.constexpr):
    """A tile loaded as the transpose of another, against `tl.trans` of a contiguous load."""
    m, n = tl.arange(0, M), tl.arange(0, N)
    rows, columns = m[:, None] * N + n[None, :], n[:, None] + m[None, :] * N
    a, t = tl.load(x + rows), tl.load(x + columns)
    p = m[:, None] * M + m[None, :]
    tl.store(y + p, tl.dot(a, t))
    tl.store(z + p, tl.dot(a, tl.trans(a)))
    tl.store(y + M * M + n, tl.sum(t, axis=1))
    tl.store(z + M * M + n, tl.sum(tl.trans(a), axis=1))
    tl.store(y + M * M + N + m, tl.sum(t, axis=0))
    tl.store(z + M * M + N + m, tl.sum(tl.trans(a), axis=0))


@triton.jit
def loops(x, y, n, N: tl.constexpr):
    i = tl.arange(0, N)
    acc = tl.zeros((N,), tl.float32)
    for j in range(n):
        acc += tl.load(x + j.to(tl.int64) * N + i)
    tl.store(y + i, captured_exp(acc))


@triton.autotune(configs=[triton.Config({"B": 8}), triton.Config({"B": 16})], key=["n"])
@triton.jit
def tuned(y, n, B: tl.constexpr):
    tl.store(y + tl.arange(0, B), tl.full((B,), B, tl.float32))


def bits(tensor: torch.Tensor) -> list[int]:
    """Bit patterns, every NaN as the same one: its payload is not defined."""
    quiet = torch.where(torch.isnan(tensor), torch.full_like(tensor, float("nan")), tensor)
    return quiet.contiguous().view(torch.int16).flatten().tolist()


@triton.jit
def precise(x, y, z, N: tl.constexpr, PRECISION: tl.constexpr):
    i = tl.arange(0, N)
    p = i[:, None] * N + i[None, :]
    tl.store(z + p, tl.dot(tl.load(x + p), tl.load(y + p), input_precision=PRECISION))


@triton.jit
def unpacked(y):
    a, b = tl.program_id(0), tl.program_id(1), tl.program_id(2)  # the compiler drops the third
    tl.store(y + a * 3 + b, (a + 10 * b).to(tl.float32))


def main() -> None:
    torch.manual_seed(1)
    special = torch.tensor(
        [1.9999, 1.00390635, 1.01171875, 3.4e38, float("nan"), float("inf"), 1e-40, -0.99999]
    )
    wide = torch.cat([special, torch.randn(56)])
    y = torch.zeros(64, dtype=torch.bfloat16)
    cast[(1,)](wide, y, 64)
    out = {"cast": [bits(y), bits(wide.bfloat16())]}
    a, b = torch.randn(32).bfloat16(), torch.randn(32).bfloat16()
    z = torch.zeros(5, 32, dtype=torch.bfloat16)
    arithmetic[(1,)](a, b, z, 32)
    quotient = b.float() / (a * a + 1.0).float()  # the language divides 16-bit types in fp32
    first = ((a * b + a).float() - quotient).bfloat16()
    want = torch.stack([first, torch.where(a > b, a, b), a.abs(), -a, torch.maximum(a, b)])
    out["arithmetic"] = [bits(z), bits(want)]
    for dtype in (torch.bfloat16, torch.float16):
        m, n = torch.randn(32, 32).to(dtype), torch.randn(32, 32).to(dtype)
        product = torch.zeros(32, 32)
        dot[(1,)](m, n, product, 32)
        out[f"dot {dtype}"] = [product.flatten().tolist(), (m.double() @ n.double()).flatten().tolist()]
    r = torch.zeros(2 * 32 + 32 * 32)
    reduce[(1,)](m.bfloat16(), r, 32)
    w = m.bfloat16()
    out["sum"] = [r[:32].tolist(), w.float().sum(1).bfloat16().float().tolist()]
    out["max"] = [r[32:64].tolist(), w.float().amax(0).tolist()]
    out["cumsum"] = [r[64:].tolist(), w.double().cumsum(0).flatten().tolist()]
    for rows, columns in ((16, 64), (32, 64), (64, 128)):
        y, z = torch.zeros(2, rows * rows + columns + rows)
        views[(1,)](torch.randn(rows, columns), y, z, rows, columns)
        out[f"{rows}x{columns} views"] = [y.tolist(), z.tolist()]
    x, e = torch.randn(3, 8), torch.zeros(8)
    loops[(1,)](x, e, 3, 8)
    out["loop variable, captured builtin"] = [e.tolist(), x.double().sum(0).exp().tolist()]
    m, n, product = torch.randn(16, 16), torch.randn(16, 16), torch.zeros(16, 16)
    newer = tuple(map(int, triton.__version__.split(".")[:2])) >= (3, 6)
    precise[(1,)](m, n, product, 16, "bf16x3" if newer else "ieee")
    out["dot of three halves"] = [product.flatten().tolist(), (m.double() @ n.double()).flatten().tolist()]
    ids = torch.zeros(6)
    unpacked[(2, 3)](ids)
    out["more values than names"] = [ids.tolist(), [0.0, 10.0, 20.0, 1.0, 11.0, 21.0]]
    t = torch.zeros(16)
    tuned[(1,)](t, 4)
    out["first configuration"] = [t.tolist(), [8.0] * 8 + [0.0] * 8]
    json.dump(out, sys.stdout)


if __name__ == "__main__":
    main()
