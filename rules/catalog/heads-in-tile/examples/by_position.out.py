import torch
import triton
import triton.language as tl


@triton.jit
def by_position(s, o, T, H: tl.constexpr, N: tl.constexpr, REVERSE: tl.constexpr = False, HEADS: tl.constexpr = 1):
    i_t, i_bh = tl.program_id(0), tl.program_id(1)
    i_h_first = (i_bh % tl.cdiv(H, HEADS)) * HEADS
    i_b, i_h = i_bh // tl.cdiv(H, HEADS), i_h_first + tl.arange(0, HEADS)[None, :]
    o_t = i_t * N + tl.arange(0, N)
    b_s = tl.load(s + i_b * T * H + i_h + (o_t * H)[:, None], mask=(o_t < T)[:, None] & (i_h < H), other=0.0)
    tl.store(o + i_b * T * H + i_h + (o_t * H)[:, None], tl.cumsum(b_s, 0, REVERSE), mask=(o_t < T)[:, None] & (i_h < H))


def run(s, N, REVERSE):
    B, T, H = s.shape
    o = torch.empty_like(s)
    by_position[(triton.cdiv(T, N), B * triton.cdiv(H, 32))](s, o, T, H, N, REVERSE, HEADS=min(triton.next_power_of_2(H), 32))
    return o
