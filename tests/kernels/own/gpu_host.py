"""Host code that speaks to a GPU where there is one: device strings, properties, guards, launch options."""

import contextlib

import torch
import triton
import triton.language as tl

META = {"covers": ("CUDA host calls", "launch options", "num_programs"), "outcome": {"cube_all": "converted"}}


@triton.jit
def cube_all(src, dst, count, SPAN: tl.constexpr):
    for block in range(tl.program_id(0), tl.cdiv(count, SPAN), tl.num_programs(0)):
        at = block * SPAN + tl.arange(0, SPAN)
        value = tl.load(src + at, mask=at < count, other=0.0)
        tl.store(dst + at, value * value * value, mask=at < count)


def workers(device):
    if device.type == "cuda":
        return torch.cuda.get_device_properties(device).multi_processor_count
    return 5


def make_inputs(device, count=300):
    home = "cuda" if torch.cuda.is_available() else device
    return {"src": torch.randn(count, device=home)}


def launch(src):
    dst = torch.empty_like(src)
    guard = torch.cuda.device(src.device.index) if src.is_cuda else contextlib.nullcontext()
    with guard:
        cube_all[(workers(src.device),)](src, dst, src.numel(), SPAN=16, num_warps=4, num_stages=2)
    if torch.cuda.is_available():
        torch.cuda.synchronize()
    return dst


def reference(src):
    return src * src * src
