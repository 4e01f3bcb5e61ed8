import triton
import triton.language as tl


@triton.jit
def moved_between(x, y, T, N: tl.constexpr):
    o_n = tl.arange(0, N)
    b_y = tl.zeros([N], dtype=tl.float32)
    for i_t in range(T):
        b_y += tl.load(x + i_t * 2 * N + o_n)
        o_n = tl.arange(0, N) + N
        b_y -= tl.load(x + i_t * 2 * N + o_n)
        # Back to the first half: without this line the next trip, and the store, would be off by N.
        o_n = tl.arange(0, N)
    tl.store(y + o_n, b_y)


def run(x, y, T, N):
    moved_between[(1,)](x, y, T, N=N)
