"""Rotary embedding of the first part of each head; the rotated width is no power of two, so the tile is padded."""

import torch
import triton
import triton.language as tl

META = {
    "covers": ("rope", "padded tile", "positions gathered"),
    "outcome": {"rotate_part": "converted"},
    "rtol": 1e-6,
}


@triton.jit
def rotate_part(
    x, cos, sin, places, tokens, HEADS: tl.constexpr, DIM: tl.constexpr, HALF: tl.constexpr, PAD: tl.constexpr
):
    token = tl.program_id(0)
    head = tl.program_id(1)
    place = tl.load(places + token)
    at = tl.arange(0, PAD)
    live = at < HALF
    base = x + (token * HEADS + head) * DIM
    c = tl.load(cos + place * HALF + at, mask=live, other=1.0)
    s = tl.load(sin + place * HALF + at, mask=live, other=0.0)
    left = tl.load(base + at, mask=live, other=0.0)
    right = tl.load(base + HALF + at, mask=live, other=0.0)
    tl.store(base + at, left * c - right * s, mask=live)
    tl.store(base + HALF + at, right * c + left * s, mask=live)


def make_inputs(device):
    angle = torch.outer(torch.arange(20.0, device=device), 1 / 50.0 ** (torch.arange(12, device=device) / 12))
    return {
        "x": torch.randn(7, 3, 32, device=device),
        "cos": angle.cos(),
        "sin": angle.sin(),
        "places": torch.tensor([0, 3, 4, 19, 1, 1, 8], device=device),
    }


def launch(x, cos, sin, places):
    x = x.clone()
    tokens, heads, dim = x.shape
    half = cos.shape[1]
    pad = triton.next_power_of_2(half)
    rotate_part[tokens, heads](x, cos, sin, places, tokens, HEADS=heads, DIM=dim, HALF=half, PAD=pad)
    return x


def reference(x, cos, sin, places):
    half = cos.shape[1]
    c, s = cos[places][:, None].double(), sin[places][:, None].double()
    left, right, rest = x[..., :half].double(), x[..., half : 2 * half].double(), x[..., 2 * half :].double()
    return torch.cat([left * c - right * s, right * c + left * s, rest], -1).float()
