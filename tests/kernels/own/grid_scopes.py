"""Names of grids bound in every way that Python has, for tuned kernels: what is not followed is left alone, never guessed."""

import torch
import triton
import triton.language as tl

META = {
    "covers": ("scopes of grids", "walrus", "nonlocal", "match", "comprehension", "try"),
    "outcome": {
        "by_parameter": "not-converted",
        "by_late_rebinding": "not-converted",
        "by_walrus": "not-converted",
        "by_nonlocal": "not-converted",
        "after_an_error": "not-converted",
        "by_match": "not-converted",
        "by_comprehension": "not-converted",
        "of_the_module": "not-converted",
        "of_the_outer_function": "not-converted",
        "assigned_in_the_launch": "not-converted",
        "of_numbers": "converted",
        "of_one_local_function": "converted",
    },
}

ONE = [triton.Config({"SPAN": 4})]


@triton.autotune(configs=ONE, key=[])
@triton.jit
def by_parameter(dst, n, SPAN: tl.constexpr):
    job = tl.program_id(0)
    tl.store(dst + job, job + 1.0)


def grid(meta):
    return (triton.cdiv(64, meta["SPAN"]),)


def run_by_parameter(dst, n, grid=grid):
    by_parameter[grid](dst, n)


@triton.autotune(configs=ONE, key=[])
@triton.jit
def by_late_rebinding(dst, n, SPAN: tl.constexpr):
    job = tl.program_id(0)
    tl.store(dst + job, job + 1.0)


late = lambda meta: (triton.cdiv(2, meta["SPAN"]),)  # noqa: E731


def run_by_late_rebinding(dst, n):
    by_late_rebinding[late](dst, n)


late = lambda meta: (n_of_all // meta["SPAN"],)  # noqa: E731
n_of_all = 24


@triton.autotune(configs=ONE, key=[])
@triton.jit
def by_walrus(dst, n, SPAN: tl.constexpr):
    job = tl.program_id(0)
    tl.store(dst + job, job + 1.0)


def run_by_walrus(dst, n):
    grid = lambda meta: (triton.cdiv(n, meta["SPAN"]),)  # noqa: E731
    if (grid := lambda meta: (triton.cdiv(2 * n, meta["SPAN"]),)) is not None:
        by_walrus[grid](dst, n)


@triton.autotune(configs=ONE, key=[])
@triton.jit
def by_nonlocal(dst, n, SPAN: tl.constexpr):
    job = tl.program_id(0)
    tl.store(dst + job, job + 1.0)


def run_by_nonlocal(dst, n):
    grid = lambda meta: (triton.cdiv(n, meta["SPAN"]),)  # noqa: E731

    def more():
        nonlocal grid
        grid = lambda meta: (triton.cdiv(3 * n, meta["SPAN"]),)  # noqa: E731

    more()
    by_nonlocal[grid](dst, n)


@triton.autotune(configs=ONE, key=[])
@triton.jit
def after_an_error(dst, n, SPAN: tl.constexpr):
    job = tl.program_id(0)
    tl.store(dst + job, job + 1.0)


def run_after_an_error(dst, n):
    grid = lambda meta: (triton.cdiv(n, meta["SPAN"]),)  # noqa: E731
    try:
        grid = lambda meta: (triton.cdiv(2 * n, meta["SPAN"]),)  # noqa: E731
        raise ValueError
    except ValueError:
        after_an_error[grid](dst, n)


@triton.autotune(configs=ONE, key=[])
@triton.jit
def by_match(dst, n, SPAN: tl.constexpr):
    job = tl.program_id(0)
    tl.store(dst + job, job + 1.0)


def run_by_match(dst, n):
    grid = lambda meta: (triton.cdiv(n, meta["SPAN"]),)  # noqa: E731
    match (lambda meta: (triton.cdiv(2 * n, meta["SPAN"]),)):
        case grid:
            by_match[grid](dst, n)


@triton.autotune(configs=ONE, key=[])
@triton.jit
def by_comprehension(dst, n, SPAN: tl.constexpr):
    job = tl.program_id(0)
    tl.store(dst + job, job + 1.0)


def run_by_comprehension(dst, n):
    grid = lambda meta: (triton.cdiv(n, meta["SPAN"]),)  # noqa: E731
    double = lambda meta: (triton.cdiv(2 * n, meta["SPAN"]),)  # noqa: E731
    [by_comprehension[grid](dst, n) for grid in [double]]
    return grid


@triton.autotune(configs=ONE, key=[])
@triton.jit
def of_the_module(dst, n, SPAN: tl.constexpr):
    job = tl.program_id(0)
    tl.store(dst + job, job + 1.0)


size = 8
of_module = lambda meta: (triton.cdiv(size, meta["SPAN"]),)  # noqa: E731


def run_of_the_module(dst, size):
    of_the_module[of_module](dst, size)


@triton.autotune(configs=ONE, key=[])
@triton.jit
def of_the_outer_function(dst, n, SPAN: tl.constexpr):
    job = tl.program_id(0)
    tl.store(dst + job, job + 1.0)


def run_of_the_outer_function(dst, n):
    grid = lambda meta: (triton.cdiv(n, meta["SPAN"]),)  # noqa: E731

    def inner(n):
        of_the_outer_function[grid](dst, n)

    inner(4 * n)


@triton.autotune(configs=ONE, key=[])
@triton.jit
def assigned_in_the_launch(dst, n, SPAN: tl.constexpr):
    job = tl.program_id(0)
    tl.store(dst + job, job + 1.0)


def run_assigned_in_the_launch(dst, n):
    assigned_in_the_launch[lambda meta: (triton.cdiv(n, meta["SPAN"]),)](dst, (n := 2 * n))


@triton.autotune(configs=ONE, key=[])
@triton.jit
def of_numbers(dst, n, SPAN: tl.constexpr):
    job = tl.program_id(0)
    tl.store(dst + job, job + 1.0)


def run_of_numbers(dst, n):
    grid = (n // 2,)
    n = 3
    of_numbers[grid](dst, n)


@triton.autotune(configs=ONE, key=[])
@triton.jit
def of_one_local_function(dst, n, SPAN: tl.constexpr):
    job = tl.program_id(0)
    tl.store(dst + job, job + 1.0)


def run_of_one_local_function(dst, n):
    if n > 4:
        def grid(meta):
            return (triton.cdiv(n, meta["SPAN"]),)
    n = 2 * n
    of_one_local_function[grid](dst, n)


HOSTS = {
    run_by_parameter: lambda n: n // 2,
    run_by_late_rebinding: lambda n: 24 // 4,
    run_by_walrus: lambda n: 2 * n // 4,
    run_by_nonlocal: lambda n: 3 * n // 4,
    run_after_an_error: lambda n: 2 * n // 4,
    run_by_match: lambda n: 2 * n // 4,
    run_by_comprehension: lambda n: 2 * n // 4,
    run_of_the_module: lambda n: 8 // 4,
    run_of_the_outer_function: lambda n: n // 4,
    run_assigned_in_the_launch: lambda n: 2 * n // 4,
    run_of_numbers: lambda n: n // 2,
    run_of_one_local_function: lambda n: 2 * n // 4,
}


def make_inputs(device):
    return {"like": torch.zeros(60, device=device)}


def launch(like, n=12):
    outs = []
    for host in HOSTS:
        dst = torch.zeros_like(like)
        if host is run_by_parameter:
            host(dst, n, lambda meta: (triton.cdiv(2 * n, meta["SPAN"]),))
        else:
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
