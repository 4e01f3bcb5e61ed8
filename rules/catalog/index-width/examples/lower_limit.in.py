import triton
import triton.language as tl


@triton.jit
def shifted(x, y, starts, offset, T, N: tl.constexpr):
    i_t = tl.program_id(0).to(tl.int64)
    o_t = i_t * N + tl.arange(0, N)
    o_s = tl.load(starts) * N + tl.arange(0, N)
    # never negative, and perhaps negative
    b_x = tl.load(x + o_t, mask=(o_t >= 0) & (o_t < T), other=0.0)
    b_x += tl.load(x + o_s, mask=(o_s >= 0) & (o_s < T), other=0.0)
    tl.store(y + o_t, b_x, mask=(o_t < T) & (1 <= o_t))


def run(x, y, starts, offset, T, N):
    shifted[(triton.cdiv(T, N),)](x, y, starts, offset, T, N=N)
