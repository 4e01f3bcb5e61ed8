"""Two axes written as a tuple in the launch; the product of both is the number of programs."""

import torch
import triton
import triton.language as tl

META = {"covers": ("grid tuple", "2-D"), "outcome": {"weigh_plane": "converted"}}


@triton.jit
def weigh_plane(src, weight, dst, width, TILE: tl.constexpr):
    line = tl.program_id(0)
    piece = tl.program_id(1)
    at = piece * TILE + tl.arange(0, TILE)  # columns of this tile
    inside = at < width
    factor = tl.load(weight + line)
    tl.store(
        dst + line * width + at,
        factor * tl.load(src + line * width + at, mask=inside, other=0.0),
        mask=inside,
    )


def make_inputs(device, lines=5, width=21):
    return {"src": torch.randn(lines, width, device=device), "weight": torch.randn(lines, device=device)}


def launch(src, weight):
    dst = torch.full_like(src, float("nan"))
    lines, width = src.shape
    weigh_plane[(lines, triton.cdiv(width, 8))](src, weight, dst, width, TILE=8)
    return dst


def reference(src, weight):
    return src * weight[:, None]
