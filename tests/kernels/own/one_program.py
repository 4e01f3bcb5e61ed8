"""A product in a kernel that asks for no program id and is launched once."""

import torch
import triton
import triton.language as tl

META = {"covers": ("one program without an id",), "outcome": {"project": "converted"}, "rtol": 2e-3}


@triton.jit
def project(left, right, dst, sums, N: tl.constexpr, D: tl.constexpr):
    row, line, col = tl.arange(0, N)[:, None], tl.arange(0, N)[None, :], tl.arange(0, D)[None, :]
    tile = tl.load(left + row * N + line)
    tl.store(dst + row * D + col, tl.dot(tile, tl.load(right + row * D + col)))
    tl.store(sums + tl.arange(0, N), tl.sum(tile.to(tl.float32), 1))


def make_inputs(device):
    return {
        "left": torch.randn(32, 32, device=device).half(),
        "right": torch.randn(32, 64, device=device).half(),
    }


def launch(left, right):
    dst, sums = torch.empty(32, 64, device=left.device), torch.empty(32, device=left.device)
    project[(1,)](left, right, dst, sums, N=32, D=64)
    return dst, sums


def reference(left, right):
    return left.float() @ right.float(), left.float().sum(1)
