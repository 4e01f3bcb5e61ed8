import torch
import triton
import triton.language as tl

ROWS = tl.constexpr(0)


@triton.jit
def last_axis(s, o, T, H: tl.constexpr, HEADS: tl.constexpr, N: tl.constexpr):
    i_t, i_bh = tl.program_id(0), tl.program_id(1)
    i_h_first = (i_bh % tl.cdiv(H, HEADS)) * HEADS
    i_b, i_h = i_bh // tl.cdiv(H, HEADS), i_h_first + tl.arange(0, HEADS)[None, :]
    o_t = i_t * N + tl.arange(0, N)
    m_t = o_t < T
    b_s = tl.load(s + i_b * T * H + i_h + (o_t * H)[:, None], mask=m_t[:, None] & (i_h < H), other=0.0)
    # a vector's only axis is its last as well
    b_o = tl.cumsum(b_s, axis=0) + tl.cumsum(b_s, 0, reverse=True) + tl.max(b_s, axis=0)[None, :] + tl.min(b_s, 0)[None, :]
    tl.store(o + i_b * T * H + i_h + (o_t * H)[:, None], b_o, mask=m_t[:, None] & (i_h < H))


def run(s, N):
    B, T, H = s.shape
    o = torch.empty_like(s)
    last_axis[(triton.cdiv(T, N), B * triton.cdiv(H, 32))](s=s, o=o, T=T, H=H, N=N, HEADS=min(triton.next_power_of_2(H), 32))
    return o
