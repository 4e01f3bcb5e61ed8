import triton
import triton.language as tl


@triton.jit
def scale_and_add(x, y, D, B: tl.constexpr):
    i = tl.program_id(0)
    o_d = tl.arange(0, B)
    b_x = tl.load(x + i * D + o_d, mask=o_d < D, other=0.0)
    tl.store(y + i * D + o_d, 2 * b_x, mask=o_d < D)
    # upstream waits by itself
    tl.debug_barrier()
    b_y = tl.load(y + i * D + o_d, mask=o_d < D, other=0.0)
    tl.store(y + i * D + o_d, b_y + 1.0, mask=o_d < D)


def run(x, y):
    T, D = x.shape
    scale_and_add[(T,)](x, y, D, B=64)
