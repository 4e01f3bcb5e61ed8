import triton
import triton.language as tl


@triton.jit
def block_promoted(x, beta, y, T, N: tl.constexpr):
    i_t = tl.program_id(0)
    p_x = tl.make_block_ptr(x, (T, N), (N, 1), (i_t * N, 0), (N, N), (1, 0))
    p_b = tl.make_block_ptr(beta, (T,), (1,), (i_t * N,), (N,), (0,))
    p_y = tl.make_block_ptr(y, (T, N), (N, 1), (i_t * N, 0), (N, N), (1, 0))
    b_b = tl.load(p_b, boundary_check=(0,)).to(tl.float32)
    b_x = tl.load(p_x, boundary_check=(0, 1))
    # the product is float32, so beta becomes float32 here
    b_y = tl.dot(b_x, tl.trans(b_x)) * b_b[:, None]
    tl.store(p_y, b_y.to(p_y.dtype.element_ty), boundary_check=(0, 1))


def run(x, beta, y, T, N):
    block_promoted[(triton.cdiv(T, N),)](x, beta, y, T, N=N)
