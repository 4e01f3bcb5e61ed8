"""A launch in a method, a launch in an autograd function, and a kernel in a class."""

import torch
import triton
import triton.language as tl

META = {
    "covers": ("launch in a method", "kernel in a class", "autograd"),
    "outcome": {"square": "converted", "square_grad": "converted", "Doubler.double": None},
}


@triton.jit
def square(src, dst, SPAN: tl.constexpr):
    at = tl.program_id(0) * SPAN + tl.arange(0, SPAN)
    value = tl.load(src + at)
    tl.store(dst + at, value * value)


@triton.jit
def square_grad(src, grad, dst, SPAN: tl.constexpr):
    at = tl.program_id(0) * SPAN + tl.arange(0, SPAN)
    tl.store(dst + at, 2.0 * tl.load(src + at) * tl.load(grad + at))


class Square(torch.autograd.Function):
    @staticmethod
    def forward(ctx, src):
        dst = torch.full_like(src, float("nan"))
        square[(src.numel() // 8,)](src, dst, SPAN=8)
        ctx.save_for_backward(src)
        return dst

    @staticmethod
    def backward(ctx, grad):
        (src,) = ctx.saved_tensors
        dst = torch.full_like(src, float("nan"))
        square_grad[(src.numel() // 8,)](src, grad.contiguous(), dst, SPAN=8)
        return dst


class Doubler:
    span = 8

    @staticmethod
    @triton.jit
    def double(src, dst, SPAN: tl.constexpr):
        at = tl.program_id(0) * SPAN + tl.arange(0, SPAN)
        tl.store(dst + at, 2.0 * tl.load(src + at))

    def __call__(self, src):
        dst = torch.full_like(src, float("nan"))
        self.double[(src.numel() // self.span,)](src, dst, SPAN=self.span)
        return dst


def make_inputs(device):
    return {"src": torch.randn(32, device=device)}


def launch(src):
    leaf = src.clone().requires_grad_(True)
    out = Square.apply(leaf)
    out.sum().backward()
    return out.detach(), leaf.grad, Doubler()(src)


def reference(src):
    return src * src, 2.0 * src, 2.0 * src
