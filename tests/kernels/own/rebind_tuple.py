"""One tuple assignment reads the names that it binds: all are read before any is bound."""

import torch
import triton
import triton.language as tl

META = {"covers": ("tuple assignment reads and rebinds",), "outcome": {"follow": "converted"}}


@triton.jit
def follow(pairs, src, dst, width, SPAN: tl.constexpr):
    i, j = tl.program_id(0), tl.program_id(1)
    out = i * tl.num_programs(1) + j
    i, j = j, i
    i, j = tl.load(pairs + (j * 2 + 0)), tl.load(pairs + (j * 2 + 1)) + i
    lane = tl.arange(0, SPAN)
    value = tl.load(src + (i * width + j) * SPAN + lane)
    tl.store(dst + out * SPAN + lane, value)


def make_inputs(device):
    pairs = torch.tensor([[1, 0], [0, 2], [2, 1]], dtype=torch.int32, device=device)
    return {"pairs": pairs, "src": torch.randn(3, 4, 8, device=device)}


def launch(pairs, src):
    dst = torch.full((len(pairs), 2, src.shape[2]), float("nan"), device=src.device)
    follow[(len(pairs), 2)](pairs, src, dst, src.shape[1], SPAN=src.shape[2])
    return dst


def reference(pairs, src):
    return torch.stack([torch.stack([src[i, j + step] for step in range(2)]) for i, j in pairs.tolist()])
