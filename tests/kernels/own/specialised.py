"""Lists of `do_not_specialize` that are no plain list: chosen, unpacked, computed, a tuple."""

import torch
import triton
import triton.language as tl

META = {
    "covers": ("do_not_specialize chosen, unpacked, computed, a tuple",),
    "outcome": {
        "chosen": "converted",
        "unpacked": "converted",
        "computed": "converted",
        "paired": "converted",
    },
}
MANY = True
NAMES = ["gain"]


@triton.jit(do_not_specialize=["size", "gain"] if MANY else ["size"])
def chosen(src, dst, size, gain, SPAN: tl.constexpr):
    lanes = tl.program_id(0) * SPAN + tl.arange(0, SPAN)
    tl.store(dst + lanes, tl.load(src + lanes, mask=lanes < size) * gain, mask=lanes < size)


@triton.jit(do_not_specialize=["size", *NAMES])
def unpacked(src, dst, size, gain, SPAN: tl.constexpr):
    lanes = tl.program_id(0) * SPAN + tl.arange(0, SPAN)
    tl.store(dst + lanes, tl.load(src + lanes, mask=lanes < size) + gain, mask=lanes < size)


@triton.jit(do_not_specialize=NAMES + ["size"])  # computed
def computed(src, dst, size, gain, SPAN: tl.constexpr):
    lanes = tl.program_id(0) * SPAN + tl.arange(0, SPAN)
    tl.store(dst + lanes, tl.load(src + lanes, mask=lanes < size) - gain, mask=lanes < size)


@triton.jit(do_not_specialize=("size",))
def paired(src, dst, size, gain, SPAN: tl.constexpr):
    lanes = tl.program_id(0) * SPAN + tl.arange(0, SPAN)
    tl.store(dst + lanes, tl.load(src + lanes, mask=lanes < size) / gain, mask=lanes < size)


def make_inputs(device):
    return {"src": torch.arange(1.0, 91.0, device=device), "gain": 3.0}


def launch(src, gain):
    size = src.numel()
    outs = [torch.full_like(src, float("nan")) for _ in range(4)]
    grid = (triton.cdiv(size, 16),)
    chosen[grid](src, outs[0], size, gain, SPAN=16)
    unpacked[grid](src, outs[1], size, gain, SPAN=16)
    computed[grid](src, outs[2], size, gain, SPAN=16)
    paired[grid](src, outs[3], size, gain, SPAN=16)
    return torch.stack(outs)


def reference(src, gain):
    return torch.stack([src * gain, src + gain, src - gain, src / gain])
