"""Group norm over planes: statistics in one kernel, scaling in another, eviction hints and cache modifiers kept."""

import torch
import triton
import triton.language as tl

META = {
    "covers": ("group norm", "load hints", "num_warps in the launch", "lambda grid bound to a name"),
    "outcome": {"group_moments": "converted", "group_scale": "converted"},
    "rtol": 1e-5,
}


@triton.jit
def group_moments(x, moments, size, TILE: tl.constexpr):
    group = tl.program_id(0)
    total = tl.zeros([TILE], dtype=tl.float32)
    squares = tl.zeros([TILE], dtype=tl.float32)
    for start in tl.range(0, size, TILE, num_stages=2):
        at = start + tl.arange(0, TILE)
        value = tl.load(x + group * size + at, mask=at < size, other=0.0, eviction_policy="evict_last")
        total += value
        squares += value * value
    mean = tl.sum(total, 0) / size
    tl.store(moments + group * 2, mean)
    tl.store(moments + group * 2 + 1, tl.sum(squares, 0) / size - mean * mean)


@triton.jit
def group_scale(
    x, moments, weight, bias, y, plane, eps, GROUPS: tl.constexpr, EACH: tl.constexpr, TILE: tl.constexpr
):
    channel = tl.program_id(0)
    at = tl.program_id(1) * TILE + tl.arange(0, TILE)
    group = channel // EACH
    mean = tl.load(moments + group * 2)
    scale = tl.rsqrt(tl.load(moments + group * 2 + 1) + eps)
    inner = channel % (GROUPS * EACH)
    value = tl.load(x + channel * plane + at, mask=at < plane, other=0.0, cache_modifier=".cg")
    value = (value - mean) * scale * tl.load(weight + inner) + tl.load(bias + inner)
    tl.store(y + channel * plane + at, value, mask=at < plane)


def make_inputs(device):
    return {
        "x": torch.randn(2, 6, 5, 7, device=device),
        "weight": torch.randn(6, device=device),
        "bias": torch.randn(6, device=device),
    }


def launch(x, weight, bias, groups=3):
    batch, channels = x.shape[:2]
    plane, each = x[0, 0].numel(), channels // groups
    y = torch.full_like(x, float("nan"))
    moments = x.new_full((batch * groups, 2), float("nan"))
    group_moments[(batch * groups,)](x, moments, each * plane, TILE=32, num_warps=8)
    grid = lambda meta: (batch * channels, triton.cdiv(plane, meta["TILE"]))  # noqa: E731
    group_scale[grid](
        x, moments, weight, bias, y, plane, 1e-5, GROUPS=groups, EACH=each, TILE=16, num_warps=4
    )
    return y


def reference(x, weight, bias, groups=3):
    return torch.nn.functional.group_norm(x.double(), groups, weight.double(), bias.double(), 1e-5).float()
