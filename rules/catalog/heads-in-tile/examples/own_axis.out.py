import torch
import triton
import triton.language as tl


@triton.jit
def softplus(x):
    return tl.where(x < 20.0, tl.log(1 + tl.exp(x)), x)


@triton.jit
def decay(g, a, o, T, H: tl.constexpr, HEADS: tl.constexpr, N: tl.constexpr):
    i_h_first = tl.cast(tl.program_id(1).to(tl.int64), tl.int32) * HEADS
    i_t, i_h = tl.program_id(0).to(tl.int64), i_h_first + tl.arange(0, HEADS)[None, :]
    # one factor per head
    b_a = tl.load(a + i_h, mask=i_h < H, other=0.0).to(tl.float32)
    o_t = i_t * N + tl.arange(0, N)
    m_t = o_t < T
    b_g = tl.load(g + i_h + (o_t * H)[:, None], mask=m_t[:, None] & (i_h < H), other=0.0).to(tl.float32)
    tl.store(o + i_h + (o_t * H)[:, None], -tl.exp(b_a) * softplus(b_g), mask=m_t[:, None] & (i_h < H))


def run(g, a):
    H = g.shape[-1]
    T = g.numel() // H
    o = torch.empty_like(g)

    def grid(meta):
        return (triton.cdiv(T, meta['N']), triton.cdiv(H, 32))

    decay[grid](g=g, a=a, o=o, T=T, H=H, N=8, HEADS=min(triton.next_power_of_2(H), 32))
    return o
