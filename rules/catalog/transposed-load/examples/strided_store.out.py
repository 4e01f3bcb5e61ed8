import triton
import triton.language as tl


@triton.jit
def strided_store(x, y, R: tl.constexpr, C: tl.constexpr):
    rows, cols = tl.arange(0, R), tl.arange(0, C)
    b_x = tl.load(x + rows[:, None] * C + cols[None, :])
    tl.store(y + rows[None, :] + cols[:, None] * R, tl.trans(b_x * 2.0))


def run(x, y, R, C):
    strided_store[(1,)](x, y, R=R, C=C)
