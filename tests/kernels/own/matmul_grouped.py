"""A product whose programs walk groups of rows for the cache, with tails in all three sizes and a list of configurations."""

import torch
import triton
import triton.language as tl

META = {
    "covers": ("matmul", "grouped order", "triton.Config list", "activation"),
    "outcome": {"multiply": "converted"},
    "rtol": 1e-6,
}


@triton.jit
def leaky(x):
    return tl.where(x >= 0, x, 0.01 * x)


@triton.autotune(
    configs=[
        triton.Config({"BM": 16, "BN": 16, "BK": 16, "GROUP": 2}, num_warps=4, num_stages=2),
        triton.Config({"BM": 32, "BN": 16, "BK": 16, "GROUP": 2}, num_warps=4, num_stages=2),
    ],
    key=["m", "n", "k"],
)
@triton.jit
def multiply(
    a, b, c, m, n, k, step_am, step_ak, step_bk, step_bn, step_cm, step_cn,
    BM: tl.constexpr, BN: tl.constexpr, BK: tl.constexpr, GROUP: tl.constexpr, LEAKY: tl.constexpr,
):  # fmt: skip
    pid = tl.program_id(axis=0)
    across, down = tl.cdiv(n, BN), tl.cdiv(m, BM)
    in_group = GROUP * across
    first = (pid // in_group) * GROUP
    tall = min(down - first, GROUP)
    row = first + (pid % in_group) % tall
    column = (pid % in_group) // tall
    at_m = (row * BM + tl.arange(0, BM)) % m
    at_n = (column * BN + tl.arange(0, BN)) % n
    at_k = tl.arange(0, BK)
    left = a + at_m[:, None] * step_am + at_k[None, :] * step_ak
    right = b + at_k[:, None] * step_bk + at_n[None, :] * step_bn
    total = tl.zeros((BM, BN), dtype=tl.float32)
    for step in range(0, tl.cdiv(k, BK)):
        x = tl.load(left, mask=at_k[None, :] < k - step * BK, other=0.0)
        y = tl.load(right, mask=at_k[:, None] < k - step * BK, other=0.0)
        total = tl.dot(x, y, total, input_precision="ieee")
        left += BK * step_ak
        right += BK * step_bk
    if LEAKY:
        total = leaky(total)
    to_m = row * BM + tl.arange(0, BM)
    to_n = column * BN + tl.arange(0, BN)
    place = c + step_cm * to_m[:, None] + step_cn * to_n[None, :]
    tl.store(place, total, mask=(to_m[:, None] < m) & (to_n[None, :] < n))


def make_inputs(device):
    return {"a": torch.randn(70, 45, device=device), "b": torch.randn(50, 45, device=device).t()}


def launch(a, b):
    m, k = a.shape
    n = b.shape[1]
    c = a.new_full((m, n), float("nan"))

    def grid(meta):
        return (triton.cdiv(m, meta["BM"]) * triton.cdiv(n, meta["BN"]),)

    multiply[grid](a, b, c, m, n, k, *a.stride(), *b.stride(), *c.stride(), LEAKY=True)
    return c


def reference(a, b):
    return torch.nn.functional.leaky_relu(a.double() @ b.double(), 0.01).float()
