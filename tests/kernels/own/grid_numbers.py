"""Arithmetic in the grids of tuned kernels, which moves into the kernel: Python's rounding, any number of operands, 32 bits."""

import torch
import triton
import triton.language as tl

META = {
    "covers": ("negative numbers in tuned grids", "min and max of several", "32-bit products"),
    "outcome": {
        "largest_of_three": "converted",
        "smallest_of_three": "converted",
        "made_smaller": "converted",
        "unpacked": "converted",
        "annotated": "converted",
        "through_int": "converted",
        "chosen": "converted",
        "looked_up": "converted",
        "divided_by_less": "not-converted",
        "wide_product": "not-converted",
        "sizes_of_tensors": "converted",
    },
}

ONE = [triton.Config({"SPAN": 4})]


@triton.autotune(configs=ONE, key=[])
@triton.jit
def largest_of_three(dst, n, SPAN: tl.constexpr):
    job = tl.program_id(0)
    tl.store(dst + job, job + 1.0)


def run_largest_of_three(dst, n):
    largest_of_three[lambda meta: (max(1, n // meta["SPAN"], n),)](dst, n)


@triton.autotune(configs=ONE, key=[])
@triton.jit
def smallest_of_three(dst, n, SPAN: tl.constexpr):
    job = tl.program_id(0)
    tl.store(dst + job, job + 1.0)


def run_smallest_of_three(dst, n):
    smallest_of_three[lambda meta: (min(40, n, 5 * meta["SPAN"]),)](dst, n)


@triton.autotune(configs=ONE, key=[])
@triton.jit
def made_smaller(dst, n, SPAN: tl.constexpr):
    job = tl.program_id(0)
    tl.store(dst + job, job + 1.0)


def run_made_smaller(dst, n):
    n -= 15
    made_smaller[lambda meta: (n // meta["SPAN"] + 6,)](dst, n)


@triton.autotune(configs=ONE, key=[])
@triton.jit
def unpacked(dst, n, SPAN: tl.constexpr):
    job = tl.program_id(0)
    tl.store(dst + job, job + 1.0)


def run_unpacked(dst, n):
    low, high = n - 15, n
    unpacked[lambda meta: (low // meta["SPAN"] + high,)](dst, n)


@triton.autotune(configs=ONE, key=[])
@triton.jit
def annotated(dst, n, SPAN: tl.constexpr):
    job = tl.program_id(0)
    tl.store(dst + job, job + 1.0)


def run_annotated(dst, n):
    low: int = n - 15
    annotated[lambda meta: (triton.cdiv(low, meta["SPAN"]) + 6,)](dst, n)


@triton.autotune(configs=ONE, key=[])
@triton.jit
def through_int(dst, n, SPAN: tl.constexpr):
    job = tl.program_id(0)
    tl.store(dst + job, job + 1.0)


def run_through_int(dst, n):
    through_int[lambda meta: (int(n - 15) // meta["SPAN"] + 6,)](dst, n)


@triton.autotune(configs=ONE, key=[])
@triton.jit
def chosen(dst, n, SPAN: tl.constexpr):
    job = tl.program_id(0)
    tl.store(dst + job, job + 1.0)


def run_chosen(dst, n):
    chosen[lambda meta: ((n - 15 if n else 0) // meta["SPAN"] + 6,)](dst, n)


@triton.autotune(configs=ONE, key=[])
@triton.jit
def looked_up(dst, n, SPAN: tl.constexpr):
    job = tl.program_id(0)
    tl.store(dst + job, job + 1.0)


def run_looked_up(dst, n):
    lows = [n - 15]
    looked_up[lambda meta: (lows[0] % meta["SPAN"] + 6,)](dst, n)


@triton.autotune(configs=ONE, key=[])
@triton.jit
def divided_by_less(dst, n, SPAN: tl.constexpr):
    job = tl.program_id(0)
    tl.store(dst + job, job + 1.0)


def run_divided_by_less(dst, n):
    divided_by_less[lambda meta: (n // (meta["SPAN"] - 7) + 9,)](dst, n)


@triton.autotune(configs=ONE, key=[])
@triton.jit
def wide_product(dst, n, SPAN: tl.constexpr):
    job = tl.program_id(0)
    tl.store(dst + job, job + 1.0)


def run_wide_product(dst, n):
    wide_product[lambda meta: (meta["SPAN"] * (n * 2**28) // 2**31,)](dst, n)


@triton.autotune(configs=ONE, key=[])
@triton.jit
def sizes_of_tensors(dst, n, SPAN: tl.constexpr):
    job = tl.program_id(0)
    tl.store(dst + job, job + 1.0)


def run_sizes_of_tensors(dst, n):
    rows, *rest = dst.view(3, 4, 5).shape
    count = dst.numel() // len(rest) if n else dst.size(0)
    sizes_of_tensors[lambda meta: (triton.cdiv(count, meta["SPAN"]) * rows,)](dst, n)


HOSTS = {
    run_largest_of_three: lambda n: n,
    run_smallest_of_three: lambda n: n,
    run_made_smaller: lambda n: (n - 15) // 4 + 6,
    run_unpacked: lambda n: (n - 15) // 4 + n,
    run_annotated: lambda n: -((15 - n) // 4) + 6,
    run_through_int: lambda n: (n - 15) // 4 + 6,
    run_chosen: lambda n: (n - 15) // 4 + 6,
    run_looked_up: lambda n: (n - 15) % 4 + 6,
    run_divided_by_less: lambda n: n // -3 + 9,
    run_wide_product: lambda n: 4 * n // 8,
    run_sizes_of_tensors: lambda n: (30 + 3) // 4 * 3,
}


def make_inputs(device):
    return {"like": torch.zeros(60, device=device)}


def launch(like, n=12):
    outs = []
    for host in HOSTS:
        dst = torch.zeros_like(like)
        host(dst, n)
        outs.append(dst)
    return tuple(outs)


def reference(like, n=12):
    outs = []
    for programs in HOSTS.values():
        dst = torch.zeros_like(like)
        dst[: programs(n)] = torch.arange(1.0, programs(n) + 1)
        outs.append(dst)
    return tuple(outs)
