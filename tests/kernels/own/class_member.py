"""Kernels that classes name in their bodies: launched through self, by a derived class, through the class, or handed on."""

import torch
import triton
import triton.language as tl

META = {
    "covers": ("kernel named in a class body", "kernel of a base class", "kernel of a derived class"),
    "outcome": {
        "twice": "converted",
        "thrice": "converted",
        "halved": "converted",
        "negated": "not-converted",
    },
}


@triton.jit
def twice(src, dst, SPAN: tl.constexpr):
    at = tl.program_id(0) * SPAN + tl.arange(0, SPAN)
    tl.store(dst + at, 2.0 * tl.load(src + at))


@triton.jit
def thrice(src, dst, SPAN: tl.constexpr):
    at = tl.program_id(0) * SPAN + tl.arange(0, SPAN)
    tl.store(dst + at, 3.0 * tl.load(src + at))


@triton.jit
def halved(src, dst, SPAN: tl.constexpr):
    at = tl.program_id(0) * SPAN + tl.arange(0, SPAN)
    tl.store(dst + at, 0.5 * tl.load(src + at))


@triton.jit
def negated(src, dst, SPAN: tl.constexpr):
    at = tl.program_id(0) * SPAN + tl.arange(0, SPAN)
    tl.store(dst + at, -tl.load(src + at))


class Doubled:
    main = twice
    other: object = halved

    def __call__(self, src):
        dst = torch.full_like(src, float("nan"))
        self.main[(src.numel() // 8,)](src, dst, SPAN=8)
        return dst


class Tripled(Doubled):
    main = thrice

    def half(self, src):
        dst = torch.full_like(src, float("nan"))
        self.other[(src.numel() // 8,)](src, dst, SPAN=8)
        return dst


class Handed:
    flip = negated


def run(holder, src):
    dst = torch.full_like(src, float("nan"))
    holder.flip[(src.numel() // 8,)](src, dst, SPAN=8)
    return dst


def whole(src):
    dst = torch.full_like(src, float("nan"))
    Doubled.other[(src.numel() // 8,)](src, dst, SPAN=8)
    return dst


def make_inputs(device):
    return {"src": torch.randn(64, device=device)}


def launch(src):
    return Doubled()(src), Tripled()(src), Tripled().half(src), whole(src), run(Handed(), src)


def reference(src):
    return 2 * src, 3 * src, src / 2, src / 2, -src
