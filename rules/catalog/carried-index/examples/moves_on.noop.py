import triton
import triton.language as tl


@triton.jit
def moves_on(x, y, T, N: tl.constexpr):
    o_n = tl.arange(0, N)
    b_y = tl.zeros([N], dtype=tl.float32)
    for i_t in range(tl.cdiv(T, N)):
        b_y += tl.load(x + o_n, mask=o_n < T, other=0.0)
        # Another value, and one that nothing before it reads.
        o_n = (i_t + 1) * N + tl.arange(0, N)
        o_m = tl.arange(0, N)
        b_y += tl.load(x + o_m)
    tl.store(y + tl.arange(0, N), b_y)


def run(x, y, T, N):
    moves_on[(1,)](x, y, T, N=N)
