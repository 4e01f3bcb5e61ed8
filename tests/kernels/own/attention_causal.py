"""Flash attention, causal, forward and backward: block pointers forward, offsets backward, key heads shared by query heads."""

import torch
import triton
import triton.language as tl

META = {
    "covers": ("flash attention", "block pointers", "grouped heads", "loop bounds from the program id"),
    "outcome": {"attend": "converted", "attend_delta": "converted", "attend_back": "converted"},
    "rtol": 2e-5,
}


@triton.jit
def attend(
    q,
    k,
    v,
    o,
    lse,
    scale,
    T,
    H: tl.constexpr,
    G: tl.constexpr,
    D: tl.constexpr,
    BT: tl.constexpr,
    BS: tl.constexpr,
):
    block, bh = tl.program_id(0), tl.program_id(1)
    batch, head = bh // H, bh % H
    shared = (batch * (H // G) + head // G) * T * D
    p_q = tl.make_block_ptr(q + bh * T * D, (T, D), (D, 1), (block * BT, 0), (BT, D), (1, 0))
    p_o = tl.make_block_ptr(o + bh * T * D, (T, D), (D, 1), (block * BT, 0), (BT, D), (1, 0))
    b_q = tl.load(p_q, boundary_check=(0,)) * scale
    top = tl.full([BT], -1e30, dtype=tl.float32)
    total = tl.zeros([BT], dtype=tl.float32)
    out = tl.zeros([BT, D], dtype=tl.float32)
    rows = block * BT + tl.arange(0, BT)
    for start in range(0, min((block + 1) * BT, T), BS):
        p_k = tl.make_block_ptr(k + shared, (D, T), (1, D), (0, start), (D, BS), (0, 1))
        p_v = tl.make_block_ptr(v + shared, (T, D), (D, 1), (start, 0), (BS, D), (1, 0))
        s = tl.dot(b_q, tl.load(p_k, boundary_check=(1,)), input_precision="ieee")
        s = tl.where(rows[:, None] >= (start + tl.arange(0, BS))[None, :], s, -1e30)
        higher = tl.maximum(top, tl.max(s, 1))
        p = tl.exp(s - higher[:, None])
        fade = tl.exp(top - higher)
        total = total * fade + tl.sum(p, 1)
        out = out * fade[:, None] + tl.dot(p, tl.load(p_v, boundary_check=(0,)), input_precision="ieee")
        top = higher
    tl.store(p_o, out / total[:, None], boundary_check=(0,))
    tl.store(lse + bh * T + rows, top + tl.log(total), mask=rows < T)


@triton.jit
def attend_delta(o, do, delta, rows, D: tl.constexpr, TILE: tl.constexpr):
    at = tl.program_id(0) * TILE + tl.arange(0, TILE)
    place = at[:, None] * D + tl.arange(0, D)[None, :]
    live = (at < rows)[:, None]
    product = tl.load(o + place, mask=live, other=0.0) * tl.load(do + place, mask=live, other=0.0)
    tl.store(delta + at, tl.sum(product, 1), mask=at < rows)


@triton.jit
def attend_back(
    q, k, v, do, lse, delta, dq, dk, dv, scale, T,
    H: tl.constexpr, G: tl.constexpr, D: tl.constexpr, BT: tl.constexpr,
):  # fmt: skip
    """One program a block of keys and key head; it walks the query heads of its group, and adds into dq by atomics."""
    block = tl.program_id(0)
    item = tl.program_id(1)
    batch, group = item // (H // G), item % (H // G)
    column = block * BT + tl.arange(0, BT)
    dim = tl.arange(0, D)
    keys = item * T * D + column[:, None] * D + dim[None, :]
    live_s = (column < T)[:, None]
    b_k = tl.load(k + keys, mask=live_s, other=0.0)
    b_v = tl.load(v + keys, mask=live_s, other=0.0)
    b_dk = tl.zeros([BT, D], dtype=tl.float32)
    b_dv = tl.zeros([BT, D], dtype=tl.float32)
    for member in range(G):
        head = batch * H + group * G + member
        for start in range(block * BT, T, BT):
            row = start + tl.arange(0, BT)
            live = (row < T)[:, None]
            place = head * T * D + row[:, None] * D + dim[None, :]
            b_q = tl.load(q + place, mask=live, other=0.0)
            b_do = tl.load(do + place, mask=live, other=0.0)
            b_lse = tl.load(lse + head * T + row, mask=row < T, other=0.0)
            b_delta = tl.load(delta + head * T + row, mask=row < T, other=0.0)
            s = tl.dot(b_q, tl.trans(b_k), input_precision="ieee") * scale
            keep = (row[:, None] >= column[None, :]) & (row < T)[:, None] & (column < T)[None, :]
            p = tl.where(keep, tl.exp(s - b_lse[:, None]), 0.0)
            b_dv += tl.dot(tl.trans(p), b_do, input_precision="ieee")
            dp = tl.dot(b_do, tl.trans(b_v), input_precision="ieee")
            ds = p * (dp - b_delta[:, None]) * scale
            b_dk += tl.dot(tl.trans(ds), b_q, input_precision="ieee")
            tl.atomic_add(dq + place, tl.dot(ds, b_k, input_precision="ieee"), mask=live)
    tl.store(dk + keys, b_dk, mask=live_s)
    tl.store(dv + keys, b_dv, mask=live_s)


def make_inputs(device):
    return {
        "q": torch.randn(2, 4, 29, 16, device=device),
        "k": torch.randn(2, 2, 29, 16, device=device),
        "v": torch.randn(2, 2, 29, 16, device=device),
        "do": torch.randn(2, 4, 29, 16, device=device),
    }


def launch(q, k, v, do):
    batch, heads, length, dim = q.shape
    groups = heads // k.shape[1]
    o = torch.full_like(q, float("nan"))
    lse, delta = (
        q.new_full((batch, heads, length), float("nan")),
        q.new_full((batch, heads, length), float("nan")),
    )
    scale = dim**-0.5
    attend[(triton.cdiv(length, 16), batch * heads)](
        q, k, v, o, lse, scale, length, H=heads, G=groups, D=dim, BT=16, BS=16
    )
    attend_delta[(triton.cdiv(batch * heads * length, 32),)](
        o, do, delta, batch * heads * length, D=dim, TILE=32
    )
    dq, dk, dv = torch.zeros_like(q), torch.full_like(k, float("nan")), torch.full_like(v, float("nan"))
    grid = (triton.cdiv(length, 16), k.shape[0] * k.shape[1])
    attend_back[grid](q, k, v, do, lse, delta, dq, dk, dv, scale, length, H=heads, G=groups, D=dim, BT=16)
    return o, dq, dk, dv


def reference(q, k, v, do):
    leaves = [t.double().requires_grad_() for t in (q, k, v)]
    more = q.shape[1] // k.shape[1]
    keys, values = (t.repeat_interleave(more, 1) for t in leaves[1:])
    scores = leaves[0] @ keys.transpose(-1, -2) * q.shape[-1] ** -0.5
    future = torch.ones(scores.shape[-2:], device=q.device).triu(1).bool()
    o = torch.softmax(scores.masked_fill(future, -float("inf")), -1) @ values
    o.backward(do.double())
    return o.detach().float(), *(leaf.grad.float() for leaf in leaves)
