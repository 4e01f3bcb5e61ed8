import triton
import triton.language as tl


@triton.jit
def block_products(q, k, s, T, N: tl.constexpr):
    i_t = tl.program_id(0)
    p_q = tl.make_block_ptr(q, (T, N), (N, 1), (i_t * N, 0), (N, N), (1, 0))
    p_k = tl.make_block_ptr(k, (T, N), (N, 1), (i_t * N, 0), (N, N), (1, 0))
    p_s = tl.make_block_ptr(s, (T, N), (N, 1), (i_t * N, 0), (N, N), (1, 0))
    b_q = tl.load(p_q, boundary_check=(0, 1))
    b_k = tl.load(p_k, boundary_check=(0, 1))
    b_s = tl.dot(b_q, tl.trans(b_k))
    # q is read once more after the product
    tl.store(p_s, b_s + b_q, boundary_check=(0, 1))


def run(q, k, s, T, N):
    block_products[(triton.cdiv(T, N),)](q, k, s, T, N=N)
