import triton
import triton.language as tl


@triton.jit
def masked_rows(x, y, T, D: tl.constexpr, N: tl.constexpr):
    tl.static_assert(D + D*N + N + N*N <= 2**31)
    i_t = tl.program_id(0).to(tl.int64)
    # rows of this tile
    o_t_base = i_t * N
    o_t = tl.arange(0, N)
    o_d = tl.arange(0, D)
    m_t = o_t < tl.maximum(tl.minimum(T - o_t_base, N), 0).to(tl.int32)
    b_x = tl.load(x + o_t_base * D + o_t[:, None] * D + o_d[None, :], mask=m_t[:, None], other=0.0)
    b_s = tl.dot(b_x, tl.trans(b_x))
    b_s = tl.where((o_t[:, None] >= o_t[None, :]) & m_t[None, :], b_s, 0.0)
    tl.store(y + o_t_base * N + o_t[:, None] * N + tl.arange(0, N)[None, :], b_s, mask=m_t[:, None])


def run(x, y, T, D, N):
    masked_rows[(triton.cdiv(T, N),)](x, y, T, D=D, N=N)
