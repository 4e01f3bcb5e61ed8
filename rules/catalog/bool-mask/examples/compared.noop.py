import triton
import triton.language as tl


@triton.jit
def compared(x, keep, y, n, N: tl.constexpr):
    o_n = tl.arange(0, N)
    # Already a predicate.
    b_keep = tl.load(keep + o_n, mask=o_n < n, other=0) != 0
    tl.store(y + o_n, tl.load(x + o_n, mask=b_keep, other=0.0), mask=o_n < n)


def run(x, keep, y, n, N):
    compared[(1,)](x, keep, y, n, N=N)
