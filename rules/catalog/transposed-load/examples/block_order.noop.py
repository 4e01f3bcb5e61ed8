import triton
import triton.language as tl


@triton.jit
def block_order(q, k, s, T, D: tl.constexpr, N: tl.constexpr):
    i_t = tl.program_id(0)
    p_q = tl.make_block_ptr(q, (T, D), (D, 1), (i_t * N, 0), (N, D), (1, 0))
    # The order says that the first axis is the contiguous one: the compiler reads whole rows.
    p_k = tl.make_block_ptr(k, (D, T), (1, D), (0, i_t * N), (D, N), (0, 1))
    b_s = tl.dot(tl.load(p_q, boundary_check=(0, 1)), tl.load(p_k, boundary_check=(0, 1)))
    p_s = tl.make_block_ptr(s, (T, N), (N, 1), (i_t * N, 0), (N, N), (1, 0))
    tl.store(p_s, b_s, boundary_check=(0, 1))


def run(q, k, s, T, D, N):
    block_order[(triton.cdiv(T, N),)](q, k, s, T, D=D, N=N)
