"""Grids whose tuned axis divides what may be negative: Python rounds down, device code towards zero."""

import torch
import triton
import triton.language as tl

META = {
    "covers": ("floor division of a negative number in a grid", "truth values in a grid"),
    "outcome": {
        "floor": "converted",
        "rest": "converted",
        "ceiling": "converted",
        "named": "converted",
        "both": "converted",
    },
}


@triton.autotune(configs=[triton.Config({"SPAN": 8})], key=["size"])
@triton.jit
def floor(dst, size, left, SPAN: tl.constexpr):
    tl.atomic_add(dst + tl.program_id(0), 1.0)


@triton.autotune(configs=[triton.Config({"SPAN": 8})], key=["size"])
@triton.jit
def rest(dst, size, SPAN: tl.constexpr):
    tl.atomic_add(dst + tl.program_id(0), 1.0)


@triton.autotune(configs=[triton.Config({"SPAN": 8})], key=["size"])
@triton.jit
def ceiling(dst, size, left, SPAN: tl.constexpr):
    tl.atomic_add(dst + tl.program_id(0) + tl.program_id(1), 1.0)


@triton.autotune(configs=[triton.Config({"SPAN": 8})], key=["size"])
@triton.jit
def named(dst, size, SPAN: tl.constexpr):
    tl.atomic_add(dst + tl.program_id(0), 1.0)


@triton.autotune(configs=[triton.Config({"SPAN": 8})], key=["size"])
@triton.jit
def both(dst, size, SPAN: tl.constexpr):
    tl.atomic_add(dst + tl.program_id(0) + tl.program_id(1) * 0, 1.0)


def make_inputs(device):
    return {"pairs": ((40, 3), (7, 12), (3, 20), (6, 22)), "device": device}


def launch(pairs, device):
    return torch.stack([_launch_all(size, left, torch.zeros(5, 48, device=device)) for size, left in pairs])


def _launch_all(size, left, dst):
    floor[lambda meta: ((size - left) // meta["SPAN"] + 4,)](dst[0], size, left)
    rest[lambda meta: ((3 - size) % meta["SPAN"] + 1,)](dst[1], size)
    ceiling[lambda meta: (triton.cdiv(size - left, meta["SPAN"]) + 4, True)](dst[2], size, left)
    over = size - left

    def grid(meta):
        return (over // meta["SPAN"] + (size > 5) + 3,)

    named[grid](dst[3], size)
    both[lambda meta: (over // meta["SPAN"] + 4, over % meta["SPAN"] + 1)](dst[4], size)
    return dst


def reference(pairs, device):
    want = torch.zeros(len(pairs), 5, 48)
    for row, (size, left) in enumerate(pairs):
        counts = [
            (size - left) // 8 + 4,
            (3 - size) % 8 + 1,
            -((left - size) // 8) + 4,
            (size - left) // 8 + (size > 5) + 3,
        ]
        for column, count in enumerate(counts):
            want[row, column, : max(count, 0)] = 1.0
        want[row, 4, : max((size - left) // 8 + 4, 0)] = (size - left) % 8 + 1.0
    return want.to(device)
