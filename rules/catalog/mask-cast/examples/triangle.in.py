import triton
import triton.language as tl


@triton.jit
def triangle(x, y, T, N: tl.constexpr):
    i_t = tl.program_id(0)
    o_t = tl.arange(0, N)
    m_t = o_t < tl.maximum(tl.minimum(T - i_t * N, N), 0).to(tl.int32)
    # rows below the diagonal, inside the sequence
    m_x = (o_t[:, None] >= o_t[None, :]) & (m_t[:, None] & m_t)
    p_x = i_t * N * N + o_t[:, None] * N + o_t[None, :]
    b_x = tl.load(x + p_x, mask=m_t[:, None], other=0.0)
    b_x = tl.where(m_x, b_x, 0.0)
    b_x += tl.where(o_t[:, None] == o_t[None, :], 1.0, 0.0)
    tl.store(y + p_x, b_x, mask=m_t[:, None])


def run(x, y, T, N):
    triangle[(triton.cdiv(T, N),)](x, y, T, N=N)
