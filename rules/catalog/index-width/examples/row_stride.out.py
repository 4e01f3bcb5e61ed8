import triton
import triton.language as tl


@triton.jit
def far_rows(x, y, T, S: tl.constexpr, D: tl.constexpr, N: tl.constexpr):
    """Rows of D elements, S apart."""
    tl.static_assert(2*D + D*N + N*S <= 2**31)
    i_t = tl.program_id(0).to(tl.int64)
    o_t_base = i_t * N
    o_t = tl.arange(0, N)
    o_d = tl.arange(0, D)
    m = (o_t < tl.maximum(tl.minimum(T - o_t_base, N), 0).to(tl.int32))[:, None]
    # one row of the result follows the other
    tl.store(y + o_t_base * D + o_t[:, None] * D + o_d[None, :], tl.load(x + o_t_base * S + o_t[:, None] * S + o_d[None, :], mask=m), mask=m)


def run(x, y, T, S, D, N):
    far_rows[(triton.cdiv(T, N),)](x, y, T, S=S, D=D, N=N)
