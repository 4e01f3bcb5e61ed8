import triton
import triton.language as tl


@triton.jit
def written(x, y, N: tl.constexpr):
    o_n = tl.arange(0, N)
    b_x = tl.load(x + o_n[:, None] * N + o_n[None, :])
    b_y = tl.dot(b_x, b_x)  # as the GPU would anyway
    b_y += tl.dot(
        b_y,
        b_x,
        input_precision="ieee",  # nearly float32
        out_dtype=tl.float32,
    )
    b_y += tl.dot(b_x, b_x, input_precision="ieee")
    b_y += tl.dot(b_x, b_x)
    tl.store(y + o_n[:, None] * N + o_n[None, :], b_y)


def run(x, y, N):
    written[(1,)](x, y, N=N)
