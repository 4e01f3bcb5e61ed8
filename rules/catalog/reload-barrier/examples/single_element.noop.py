import triton
import triton.language as tl


@triton.jit
def top(x, y, D, B: tl.constexpr):
    i = tl.program_id(0)
    o_d = tl.arange(0, B)
    b_x = tl.load(x + i * D + o_d, mask=o_d < D, other=0.0)
    tl.store(y + i, tl.max(b_x, 0))
    # one element comes back through the scalar unit's cache: `refuse` says so
    largest = tl.load(y + i)
    tl.store(x + i * D + o_d, b_x / largest, mask=o_d < D)


def run(x, y):
    T, D = x.shape
    top[(T,)](x, y, D, B=64)
