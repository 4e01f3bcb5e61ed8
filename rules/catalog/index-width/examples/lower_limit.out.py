import triton
import triton.language as tl


@triton.jit
def shifted(x, y, starts, offset, T, N: tl.constexpr):
    i_t = tl.program_id(0).to(tl.int64)
    o_t_base = i_t * N
    o_t = tl.arange(0, N)
    o_s_base = tl.load(starts) * N
    o_s = tl.arange(0, N)
    # never negative, and perhaps negative
    b_x = tl.load(x + o_t_base + o_t, mask=(o_t >= 0) & (o_t < tl.maximum(tl.minimum(T - o_t_base, N), 0).to(tl.int32)), other=0.0)
    b_x += tl.load(x + o_s_base + o_s, mask=((o_s_base + o_s) >= 0) & (o_s < tl.maximum(tl.minimum(T - o_s_base, N), 0).to(tl.int32)), other=0.0)
    tl.store(y + o_t_base + o_t, b_x, mask=(o_t < tl.maximum(tl.minimum(T - o_t_base, N), 0).to(tl.int32)) & (1 <= (o_t_base + o_t)))


def run(x, y, starts, offset, T, N):
    shifted[(triton.cdiv(T, N),)](x, y, starts, offset, T, N=N)
