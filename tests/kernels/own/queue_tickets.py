"""The old value of an atomic hands out places: any order of the tasks is right, the set of values is what counts."""

import torch
import triton
import triton.language as tl

META = {"covers": ("atomic return value",), "outcome": {"gather_even": None}}


@triton.jit
def gather_even(src, dst, used, SPAN: tl.constexpr):
    value = tl.load(src + tl.program_id(0))
    if value % 2 == 0:
        place = tl.atomic_add(used, 1)
        tl.store(dst + place, value)


def make_inputs(device):
    return {"src": torch.randint(1, 50, (31,), dtype=torch.int32, device=device)}


def launch(src):
    dst = torch.zeros_like(src)
    used = torch.zeros(1, dtype=torch.int32, device=src.device)
    gather_even[(src.numel(),)](src, dst, used, SPAN=1)
    return dst.sort().values, used


def reference(src):
    even = src[src % 2 == 0]
    dst = torch.zeros_like(src)
    dst[: even.numel()] = even
    return dst.sort().values, torch.tensor([even.numel()], dtype=torch.int32, device=src.device)
