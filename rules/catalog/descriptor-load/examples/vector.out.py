import triton
import triton.language as tl


@triton.jit
def vector(x, y, T, N: tl.constexpr):
    i_t = tl.program_id(0)
    d_x_0 = tl.arange(0, N)
    b_x = tl.load(x + tl.cast(i_t * N, tl.int64) + d_x_0, mask=(i_t * N + d_x_0 >= 0) & (i_t * N + d_x_0 < T), other=0)
    o_t = i_t * N + tl.arange(0, N)
    tl.store(y + o_t, b_x + 1.0, mask=o_t < T)


def run(x, y, T, N):
    vector[(triton.cdiv(T, N),)](x, y, T, N=N)
