import triton
import triton.language as tl


@triton.jit
def contiguous(x, y, R: tl.constexpr, C: tl.constexpr):
    rows, cols = tl.arange(0, R), tl.arange(0, C)
    b_x = tl.load(x + rows[:, None] * C + cols[None, :])
    # A block pointer with order (0, 1) is read the right way round by the target's compiler.
    p_y = tl.make_block_ptr(y, (C, R), (1, C), (0, 0), (C, R), (0, 1))
    tl.store(p_y, tl.trans(b_x))


def run(x, y, R, C):
    contiguous[(1,)](x, y, R=R, C=C)
