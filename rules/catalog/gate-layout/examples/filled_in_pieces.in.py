import torch
import triton
import triton.language as tl


@triton.jit
def scale_rows(x, g, y, first, T, H: tl.constexpr, N: tl.constexpr):
    i_t, i_bh = tl.program_id(0), tl.program_id(1)
    i_b, i_h = i_bh // H, i_bh % H
    o_t = first + i_t * N + tl.arange(0, N)
    m_t = o_t < T
    b_g = tl.load(g + (i_b * T + o_t) * H + i_h, mask=m_t, other=0.0)
    o_n = tl.arange(0, N)
    eye = (o_n[:, None] == o_n[None, :]).to(tl.float32)
    b_y = tl.sum(tl.dot(eye, eye) * b_g[None, :], 1) * tl.load(x)
    tl.store(y + (i_b * T + o_t) * H + i_h, b_y, mask=m_t)


def run(x, g):
    B, T, H = g.shape
    y = torch.empty_like(g)
    # each launch fills sixteen rows: what the earlier ones wrote stays
    for first in range(0, T, 16):
        scale_rows[(1, B * H)](x, g, y, first, T, H, 16)
    return y
