"""Helpers that ask for program ids and are reached by a value: their kernels stay as they are."""

import torch
import triton
import triton.language as tl

META = {
    "covers": (
        "a helper with a program id as parameter, local name, class member",
        "a module-level name that is one of two helpers, by choice, by a second assignment, by a call",
    ),
    "outcome": {
        "by_parameter": "not-converted",
        "by_helper": "not-converted",
        "by_local": "not-converted",
        "by_class": "not-converted",
        "by_choice": "not-converted",
        "by_last": "not-converted",
        "by_maker": "not-converted",
        "by_name": "converted",
        "harmless": "converted",
    },
}


@triton.jit
def place(value):
    return value + tl.program_id(0)


@triton.jit
def twice(value):
    return value * 2


@triton.jit
def larger(a, b):
    return tl.maximum(a, b)


@triton.jit
def apply(value, F: tl.constexpr):
    return F(value)


class Tools:
    where = place


def hand_on(helper):
    return helper


spot = place
chosen = twice if META is None else place
last = twice
last = place
made = hand_on(place)


@triton.jit
def by_parameter(dst, OP: tl.constexpr):
    tl.store(dst + tl.program_id(0), OP(1.0))


@triton.jit
def by_helper(dst):
    tl.store(dst + tl.program_id(0), apply(1.0, place))


@triton.jit
def by_local(dst, FLIP: tl.constexpr):
    op = place if FLIP else twice
    tl.store(dst + tl.program_id(0), op(1.0))


@triton.jit
def by_class(dst):
    tl.store(dst + tl.program_id(0), Tools.where(1.0))


@triton.jit
def by_choice(dst):
    tl.store(dst + tl.program_id(0), chosen(1.0))


@triton.jit
def by_last(dst):
    tl.store(dst + tl.program_id(0), last(1.0))


@triton.jit
def by_maker(dst):
    tl.store(dst + tl.program_id(0), made(1.0))


@triton.jit
def by_name(dst):
    tl.store(dst + tl.program_id(0), spot(1.0))


@triton.jit
def harmless(dst):
    best = tl.reduce(tl.arange(0, 8), 0, larger)
    tl.store(dst + tl.program_id(0), twice(best).to(tl.float32))


def make_inputs(device):
    return {"jobs": 7, "device": device}


def launch(jobs, device):
    outs = [torch.zeros(jobs, device=device) for _ in range(9)]
    by_parameter[(jobs,)](outs[0], OP=place)
    by_helper[(jobs,)](outs[1])
    by_local[(jobs,)](outs[2], FLIP=True)
    by_class[(jobs,)](outs[3])
    by_name[(jobs,)](outs[4])
    harmless[(jobs,)](outs[5])
    by_choice[(jobs,)](outs[6])
    by_last[(jobs,)](outs[7])
    by_maker[(jobs,)](outs[8])
    return torch.stack(outs)


def reference(jobs, device):
    count = torch.arange(jobs, dtype=torch.float32, device=device)
    return torch.stack([count + 1.0] * 5 + [torch.full_like(count, 14.0)] + [count + 1.0] * 3)
