"""Largest of overlapping windows with its place, over images; indices by division inside the tile."""

import torch
import triton
import triton.language as tl

META = {
    "covers": ("max pooling", "division inside a tile", "argmax kept by where"),
    "outcome": {"pool": "converted"},
}


@triton.jit
def pool(
    src,
    dst,
    place,
    high,
    wide,
    out_h,
    out_w,
    total,
    SIZE: tl.constexpr,
    STEP: tl.constexpr,
    TILE: tl.constexpr,
):
    at = tl.program_id(0) * TILE + tl.arange(0, TILE)
    live = at < total
    x = at % out_w
    y = (at // out_w) % out_h
    plane = at // (out_w * out_h)
    best = tl.full([TILE], -float("inf"), dtype=tl.float32)
    spot = tl.full([TILE], 0, dtype=tl.int32)
    for dy in tl.static_range(SIZE):
        for dx in tl.static_range(SIZE):
            r, c = y * STEP + dy, x * STEP + dx
            inside = live & (r < high) & (c < wide)
            value = tl.load(src + (plane * high + r) * wide + c, mask=inside, other=-float("inf"))
            better = value > best
            best = tl.where(better, value, best)
            spot = tl.where(better, r * wide + c, spot)
    tl.store(dst + at, best, mask=live)
    tl.store(place + at, spot, mask=live)


def make_inputs(device):
    return {"src": torch.randn(2, 3, 9, 11, device=device)}


def launch(src):
    batch, channels, high, wide = src.shape
    out_h, out_w = (high - 3) // 2 + 1, (wide - 3) // 2 + 1
    dst = src.new_full((batch, channels, out_h, out_w), float("nan"))
    place = torch.full(dst.shape, -1, dtype=torch.int64, device=src.device)
    pool[(triton.cdiv(dst.numel(), 32),)](
        src, dst, place, high, wide, out_h, out_w, dst.numel(), SIZE=3, STEP=2, TILE=32
    )
    return dst, place


def reference(src):
    return tuple(torch.nn.functional.max_pool2d(src, 3, 2, return_indices=True))
