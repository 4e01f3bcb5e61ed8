import triton
import triton.language as tl


@triton.jit
def promoted(x, beta, y, N: tl.constexpr):
    o_n = tl.arange(0, N)
    b_x = tl.load(x + o_n[:, None] * N + o_n[None, :])
    b_b = tl.load(beta + o_n).to(tl.float32)  # may be bfloat16
    b_y = tl.dot(b_x, tl.trans(b_x))
    b_y *= b_b[:, None]
    tl.store(y + o_n[:, None] * N + o_n[None, :], b_y.to(y.dtype.element_ty))


def run(x, beta, y, N):
    promoted[(1,)](x, beta, y, N=N)
