"""A short causal convolution per channel with a kept state, over packed sequences."""

import torch
import triton
import triton.language as tl

META = {
    "covers": ("short convolution", "varlen", "state in place", "static_range", "negative lanes"),
    "outcome": {"convolve": "converted"},
    "rtol": 1e-6,
}


@triton.jit
def convolve(
    x, weight, state, bounds, y, D: tl.constexpr, W: tl.constexpr, TILE: tl.constexpr, WIDE: tl.constexpr
):
    seq = tl.program_id(0)
    channel = tl.program_id(1) * WIDE + tl.arange(0, WIDE)
    first, last = tl.load(bounds + seq), tl.load(bounds + seq + 1)
    length = last - first
    live = channel < D
    for start in range(0, length, TILE):
        at = start + tl.arange(0, TILE)
        total = tl.zeros([TILE, WIDE], dtype=tl.float32)
        for tap in tl.static_range(W):
            back = at - (W - 1 - tap)
            inside = (back >= 0) & (at < length)
            value = tl.load(
                x + (first + back)[:, None] * D + channel[None, :],
                mask=inside[:, None] & live[None, :],
                other=0.0,
            )
            kept = tl.load(
                state + (seq * (W - 1) + back + W - 1)[:, None] * D + channel[None, :],
                mask=((back < 0) & (at < length))[:, None] & live[None, :],
                other=0.0,
            )
            total += (value + kept) * tl.load(weight + tap * D + channel, mask=live, other=0.0)[None, :]
        tl.store(
            y + (first + at)[:, None] * D + channel[None, :],
            total,
            mask=(at < length)[:, None] & live[None, :],
        )


def make_inputs(device):
    return {
        "x": torch.randn(23, 12, device=device),
        "weight": torch.randn(4, 12, device=device),
        "state": torch.randn(4, 3, 12, device=device),
        "bounds": torch.tensor([0, 1, 12, 12, 23], device=device),
    }


def launch(x, weight, state, bounds):
    y = torch.full_like(x, float("nan"))
    grid = (len(bounds) - 1, triton.cdiv(x.shape[1], 8))
    convolve[grid](x, weight, state, bounds, y, D=x.shape[1], W=len(weight), TILE=8, WIDE=8)
    return y


def reference(x, weight, state, bounds):
    cuts, parts = bounds.tolist(), []
    for seq, (first, last) in enumerate(zip(cuts[:-1], cuts[1:], strict=True)):
        padded = torch.cat([state[seq], x[first:last]]).double()
        taps = [padded[tap : tap + last - first] * weight[tap] for tap in range(len(weight))]
        parts.append(sum(taps))
    return torch.cat(parts).float()
