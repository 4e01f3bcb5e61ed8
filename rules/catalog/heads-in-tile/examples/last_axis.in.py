import torch
import triton
import triton.language as tl

ROWS = tl.constexpr(0)


@triton.jit
def last_axis(s, o, T, H: tl.constexpr, N: tl.constexpr):
    i_t, i_bh = tl.program_id(0), tl.program_id(1)
    i_b, i_h = i_bh // H, i_bh % H
    o_t = i_t * N + tl.arange(0, N)
    m_t = o_t < T
    b_s = tl.load(s + i_b * T * H + i_h + o_t * H, mask=m_t, other=0.0)
    # a vector's only axis is its last as well
    b_o = tl.cumsum(b_s, axis=-1) + tl.cumsum(b_s, -1, reverse=True) + tl.max(b_s, axis=-1) + tl.min(b_s, ROWS)
    tl.store(o + i_b * T * H + i_h + o_t * H, b_o, mask=m_t)


def run(s, N):
    B, T, H = s.shape
    o = torch.empty_like(s)
    last_axis[(triton.cdiv(T, N), B * H)](s=s, o=o, T=T, H=H, N=N)
    return o
