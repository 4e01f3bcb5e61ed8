"""Layer norm with a bias, forward and backward; the weights' gradients in two steps over groups of rows."""

import torch
import triton
import triton.language as tl

META = {
    "covers": ("layer norm", "partial sums per program", "grid as a variable"),
    "outcome": {"norm_forward": "converted", "norm_backward": "converted", "norm_weights": "converted"},
    "rtol": 1e-5,
}


@triton.jit
def norm_forward(x, w, b, y, mean, rstd, eps, width, WIDE: tl.constexpr):
    row = tl.program_id(0)
    at = tl.arange(0, WIDE)
    live = at < width
    value = tl.load(x + row * width + at, mask=live, other=0.0)
    centre = tl.sum(value, axis=0) / width
    value = tl.where(live, value - centre, 0.0)
    scale = 1 / tl.sqrt(tl.sum(value * value, axis=0) / width + eps)
    tl.store(mean + row, centre)
    tl.store(rstd + row, scale)
    weight = tl.load(w + at, mask=live, other=0.0)
    bias = tl.load(b + at, mask=live, other=0.0)
    tl.store(y + row * width + at, value * scale * weight + bias, mask=live)


@triton.jit
def norm_backward(
    x, w, dy, dx, dw, db, mean, rstd, rows, width, PER: tl.constexpr, WIDE: tl.constexpr
):  # each program owns PER rows and one row of the partial sums
    group = tl.program_id(0)
    at = tl.arange(0, WIDE)
    live = at < width
    weight = tl.load(w + at, mask=live, other=0.0)
    sum_w = tl.zeros([WIDE], dtype=tl.float32)
    sum_b = tl.zeros([WIDE], dtype=tl.float32)
    for row in range(group * PER, min((group + 1) * PER, rows)):
        scale = tl.load(rstd + row)
        hat = (tl.load(x + row * width + at, mask=live, other=0.0) - tl.load(mean + row)) * scale
        hat = tl.where(live, hat, 0.0)
        grad = tl.load(dy + row * width + at, mask=live, other=0.0)
        sum_w += grad * hat
        sum_b += grad
        inner = grad * weight
        one = tl.sum(inner * hat, axis=0) / width
        two = tl.sum(inner, axis=0) / width
        tl.store(dx + row * width + at, (inner - hat * one - two) * scale, mask=live)
    tl.store(dw + group * width + at, sum_w, mask=live)
    tl.store(db + group * width + at, sum_b, mask=live)


@triton.jit
def norm_weights(parts, total, groups, width, TALL: tl.constexpr, WIDE: tl.constexpr):
    at = tl.program_id(0) * WIDE + tl.arange(0, WIDE)
    total_here = tl.zeros([WIDE], dtype=tl.float32)
    for start in range(0, groups, TALL):
        line = start + tl.arange(0, TALL)
        live = (line < groups)[:, None] & (at < width)[None, :]
        total_here += tl.sum(
            tl.load(parts + line[:, None] * width + at[None, :], mask=live, other=0.0), axis=0
        )
    tl.store(total + at, total_here, mask=at < width)


def make_inputs(device):
    return {
        "x": torch.randn(11, 45, device=device),
        "w": torch.randn(45, device=device),
        "b": torch.randn(45, device=device),
        "dy": torch.randn(11, 45, device=device),
    }


def launch(x, w, b, dy):
    rows, width = x.shape
    y, dx = torch.full_like(x, float("nan")), torch.full_like(x, float("nan"))
    mean, rstd = x.new_full((rows,), float("nan")), x.new_full((rows,), float("nan"))
    wide = triton.next_power_of_2(width)
    norm_forward[(rows,)](x, w, b, y, mean, rstd, 1e-5, width, WIDE=wide)
    groups = triton.cdiv(rows, 4)
    parts_w, parts_b = x.new_full((groups, width), float("nan")), x.new_full((groups, width), float("nan"))
    grid = (groups,)
    norm_backward[grid](x, w, dy, dx, parts_w, parts_b, mean, rstd, rows, width, PER=4, WIDE=wide)
    dw, db = torch.full_like(w, float("nan")), torch.full_like(b, float("nan"))
    for parts, total in ((parts_w, dw), (parts_b, db)):
        norm_weights[(triton.cdiv(width, 16),)](parts, total, groups, width, TALL=2, WIDE=16)
    return y, dx, dw, db


def reference(x, w, b, dy):
    leaves = [t.double().requires_grad_() for t in (x, w, b)]
    y = torch.nn.functional.layer_norm(leaves[0], (x.shape[1],), leaves[1], leaves[2], 1e-5)
    y.backward(dy.double())
    return y.detach().float(), *(leaf.grad.float() for leaf in leaves)
