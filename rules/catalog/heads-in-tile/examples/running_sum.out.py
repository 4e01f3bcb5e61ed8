import torch
import triton
import triton.language as tl


@triton.jit
def running_sum(s, bias, o, T, H: tl.constexpr, HEADS: tl.constexpr, N: tl.constexpr, REVERSE: tl.constexpr):
    i_t, i_bh = tl.program_id(0), tl.program_id(1)
    i_h_first = (i_bh % tl.cdiv(H, HEADS)) * HEADS
    i_b, i_h = i_bh // tl.cdiv(H, HEADS), i_h_first + tl.arange(0, HEADS)[None, :]
    o_t = i_t * N + tl.arange(0, N)
    m_t = o_t < T
    # [N]
    b_s = tl.load(s + i_b * T * H + i_h + (o_t * H)[:, None], mask=m_t[:, None] & (i_h < H), other=0.0).to(tl.float32)
    b_s = tl.where(m_t[:, None], b_s + tl.load(bias + i_h, mask=i_h < H, other=0.0), 0.0)
    b_o = tl.cumsum(b_s, axis=0)
    if REVERSE:
        b_z = tl.sum(b_s, axis=0)[None, :]
        b_o = -b_o + b_z + b_s
    tl.store(o + i_b * T * H + i_h + (o_t * H)[:, None], b_o, mask=m_t[:, None] & (i_h < H))


def run(s, bias, N, REVERSE):
    B, T, H = s.shape
    o = torch.empty_like(s)
    grid = (triton.cdiv(T, N), B * triton.cdiv(H, 32))
    running_sum[grid](
        s=s,
        bias=bias,
        o=o,
        T=T,
        H=H,
        N=N,
        REVERSE=REVERSE,
        HEADS=min(triton.next_power_of_2(H), 32),
    )
    return o
