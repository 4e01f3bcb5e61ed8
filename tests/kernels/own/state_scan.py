"""A diagonal linear recurrence by an associative scan along a tile, the carry kept from tile to tile."""

import torch
import triton
import triton.language as tl

META = {
    "covers": ("state space scan", "associative_scan with a pair", "carry along a loop"),
    "outcome": {"recur": "converted"},
    "rtol": 1e-5,
}


@triton.jit
def chain(decay_l, value_l, decay_r, value_r):
    return decay_l * decay_r, value_l * decay_r + value_r


@triton.jit
def recur(decay, value, out, length, TILE: tl.constexpr):
    lane = tl.program_id(0)
    carry = 0.0
    for start in range(0, length, TILE):
        at = start + tl.arange(0, TILE)
        a = tl.load(decay + lane * length + at, mask=at < length, other=1.0)
        x = tl.load(value + lane * length + at, mask=at < length, other=0.0)
        product, inner = tl.associative_scan((a, x), 0, chain)
        inner += product * carry
        tl.store(out + lane * length + at, inner, mask=at < length)
        carry = tl.sum(tl.where(tl.arange(0, TILE) == TILE - 1, inner, 0.0), 0)


def make_inputs(device):
    return {"decay": torch.rand(6, 41, device=device), "value": torch.randn(6, 41, device=device)}


def launch(decay, value):
    out = torch.full_like(value, float("nan"))
    recur[(len(value),)](decay, value, out, value.shape[1], TILE=16)
    return out


def reference(decay, value):
    carry, rows = torch.zeros(len(value), device=value.device, dtype=torch.float64), []
    for t in range(value.shape[1]):
        carry = carry * decay[:, t].double() + value[:, t].double()
        rows.append(carry)
    return torch.stack(rows, 1).float()
