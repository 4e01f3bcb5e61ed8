"""Decoding against pages of keys: parts of the history in parallel, then a merge; empty parts leave early."""

import torch
import triton
import triton.language as tl

META = {
    "covers": (
        "paged attention",
        "early return per part",
        "two kernels with a workspace",
        "grid held in a dict",
    ),
    "outcome": {"read_pages": "converted", "merge_parts": "converted"},
    "rtol": 1e-5,
}


@triton.jit
def read_pages(
    q, keys, values, pages, lengths, part_o, part_lse, scale, most,
    PAGE: tl.constexpr, D: tl.constexpr, PER: tl.constexpr, PARTS: tl.constexpr, HEADS: tl.constexpr,
):  # fmt: skip
    seq = tl.program_id(0)
    head = tl.program_id(1)
    part = tl.program_id(2)
    length = tl.load(lengths + seq)
    begin = part * PER
    if begin >= length:
        return
    dim = tl.arange(0, D)
    b_q = tl.load(q + (seq * HEADS + head) * D + dim) * scale
    top = -float("inf")
    total = 0.0
    out = tl.zeros([D], dtype=tl.float32)
    for start in range(begin, min(begin + PER, length), PAGE):
        page = tl.load(pages + seq * most + start // PAGE)
        at = start + tl.arange(0, PAGE)
        place = ((page * PAGE + tl.arange(0, PAGE)) * HEADS + head)[:, None] * D + dim[None, :]
        live = (at < length)[:, None]
        s = tl.sum(tl.load(keys + place, mask=live, other=0.0) * b_q[None, :], axis=1)
        s = tl.where(at < length, s, -float("inf"))
        higher = tl.maximum(top, tl.max(s, 0))
        p = tl.exp(s - higher)
        fade = tl.exp(top - higher)
        total = total * fade + tl.sum(p, 0)
        out = out * fade + tl.sum(p[:, None] * tl.load(values + place, mask=live, other=0.0), axis=0)
        top = higher
    slot = (seq * HEADS + head) * PARTS + part
    tl.store(part_o + slot * D + dim, out / total)
    tl.store(part_lse + slot, top + tl.log(total))


@triton.jit
def merge_parts(
    part_o, part_lse, lengths, o, D: tl.constexpr, PER: tl.constexpr, PARTS: tl.constexpr, HEADS: tl.constexpr
):
    seq = tl.program_id(0)
    head = tl.program_id(1)
    parts = tl.cdiv(tl.load(lengths + seq), PER)
    dim = tl.arange(0, D)
    top = -float("inf")
    total = 0.0
    out = tl.zeros([D], dtype=tl.float32)
    for part in range(0, parts):
        slot = (seq * HEADS + head) * PARTS + part
        lse = tl.load(part_lse + slot)
        higher = tl.maximum(top, lse)
        fade, weight = tl.exp(top - higher), tl.exp(lse - higher)
        out = out * fade + weight * tl.load(part_o + slot * D + dim)
        total = total * fade + weight
        top = higher
    tl.store(o + (seq * HEADS + head) * D + dim, out / total)


def make_inputs(device):
    return {
        "q": torch.randn(3, 2, 16, device=device),
        "keys": torch.randn(9, 4, 2, 16, device=device),
        "values": torch.randn(9, 4, 2, 16, device=device),
        "pages": torch.tensor([[3, 0, 7, 5], [1, 8, 8, 8], [2, 4, 6, 8]], device=device),
        "lengths": torch.tensor([15, 2, 9], device=device),
    }


def launch(q, keys, values, pages, lengths):
    seqs, heads, dim = q.shape
    page, most = keys.shape[1], pages.shape[1]
    per = 2 * page
    parts = triton.cdiv(most * page, per)
    part_o = q.new_full((seqs, heads, parts, dim), float("nan"))
    part_lse = q.new_full((seqs, heads, parts), float("nan"))
    o = torch.full_like(q, float("nan"))
    grids = {"read": (seqs, heads, parts), "merge": (seqs, heads)}
    read_pages[grids["read"]](
        q, keys, values, pages, lengths, part_o, part_lse, dim**-0.5, most,
        PAGE=page, D=dim, PER=per, PARTS=parts, HEADS=heads,
    )  # fmt: skip
    merge_parts[grids["merge"]](part_o, part_lse, lengths, o, D=dim, PER=per, PARTS=parts, HEADS=heads)
    return o


def reference(q, keys, values, pages, lengths):
    rows = []
    for seq, length in enumerate(lengths.tolist()):
        k = keys[pages[seq]].flatten(0, 1)[:length].double()
        v = values[pages[seq]].flatten(0, 1)[:length].double()
        weights = torch.softmax(torch.einsum("hd,nhd->hn", q[seq].double(), k) * q.shape[-1] ** -0.5, -1)
        rows.append(torch.einsum("hn,nhd->hd", weights, v))
    return torch.stack(rows).float()
