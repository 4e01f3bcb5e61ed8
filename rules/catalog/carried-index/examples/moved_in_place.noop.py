import triton
import triton.language as tl


@triton.jit
def moved_in_place(x, y, T, S, N: tl.constexpr):
    o_n = tl.arange(0, N)
    b_y = tl.zeros([N], dtype=tl.float32)
    for i_t in range(T):
        o_n += N
        for i_s in range(S):
            b_y += tl.load(x + i_t * 2 * N + o_n) * i_s
        o_n = tl.arange(0, N)
        b_y += tl.load(x + i_t * 2 * N + o_n)
    tl.store(y + o_n, b_y)


def run(x, y, T, S, N):
    moved_in_place[(1,)](x, y, T, S, N=N)
