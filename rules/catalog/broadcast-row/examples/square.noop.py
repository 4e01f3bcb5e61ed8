import triton
import triton.language as tl


@triton.jit
def square(x, y, N: tl.constexpr):
    o_n = tl.arange(0, N)
    # N rows: with N = 1 there is one, at its own place
    b_x = tl.load(x + o_n[:, None] * N + o_n[None, :])
    tl.store(y + o_n[:, None] * N + o_n[None, :], b_x * 2)


def run(x, y, N):
    square[(1,)](x, y, N=N)
