import triton
import triton.language as tl


@triton.jit
def scale_and_add(x, y, D, N: tl.constexpr, B: tl.constexpr):
    i = tl.program_id(0)
    b_sum = tl.zeros([B], dtype=tl.float32)
    for i_d in range(tl.cdiv(D, B)):
        o_d = i_d * B + tl.arange(0, B)
        b_x = tl.load(x + i * D + o_d, mask=o_d < D, other=0.0)
        b_sum += b_x
        tl.store(y + i * D + o_d, 2 * b_x, mask=o_d < D)

    tl.debug_barrier()
    # every tile again, now that the sum is known
    for i_d in range(tl.cdiv(D, B)):
        o_d = i_d * B + tl.arange(0, B)
        b_y = tl.load(y + i * D + o_d, mask=o_d < D, other=0.0)
        tl.store(y + i * D + o_d, b_y + tl.sum(b_sum, 0), mask=o_d < D)


def run(x, y):
    T, D = x.shape
    scale_and_add[(T,)](x, y, D, N=1, B=64)
