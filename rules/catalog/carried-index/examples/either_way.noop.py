import triton
import triton.language as tl


@triton.jit
def either_way(x, y, T, N: tl.constexpr):
    b_y = tl.zeros([N], dtype=tl.float32)
    for i_t in range(T):
        # Both ways say the same, but nothing said it before.
        if i_t % 2 == 0:
            o_n = tl.arange(0, N)
            b_y += tl.load(x + o_n)
        else:
            o_n = tl.arange(0, N)
        b_y += tl.load(x + i_t * N + o_n)
    tl.store(y + tl.arange(0, N), b_y)


def run(x, y, T, N):
    either_way[(1,)](x, y, T, N=N)
