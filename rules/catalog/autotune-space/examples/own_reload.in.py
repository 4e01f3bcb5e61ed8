import triton
import triton.language as tl


@triton.autotune(
    configs=[triton.Config({}, num_warps=w) for w in (2, 4)],
    key=['D'],
)
@triton.jit
def scale_and_add(x, y, D: tl.constexpr, B: tl.constexpr):
    i = tl.program_id(0)
    b_sum = tl.zeros([B], dtype=tl.float32)
    for i_d in range(tl.cdiv(D, B)):
        p_x = tl.make_block_ptr(x + i * D, (D,), (1,), (i_d * B,), (B,), (0,))
        p_y = tl.make_block_ptr(y + i * D, (D,), (1,), (i_d * B,), (B,), (0,))
        b_x = tl.load(p_x, boundary_check=(0,))
        b_sum += b_x
        tl.store(p_y, 2 * b_x, boundary_check=(0,))
    # `y` holds nothing but what the loop before has stored: no trial sees another one's output
    for i_d in range(tl.cdiv(D, B)):
        p_y = tl.make_block_ptr(y + i * D, (D,), (1,), (i_d * B,), (B,), (0,))
        tl.store(p_y, tl.load(p_y, boundary_check=(0,)) + tl.sum(b_sum, 0), boundary_check=(0,))


def run(x, y):
    T, D = x.shape
    scale_and_add[(T,)](x, y, D=D, B=64)
