import triton
import triton.language as tl


@triton.jit
def grouped_weight(x, w, y, T, G: tl.constexpr, D: tl.constexpr, N: tl.constexpr, M: tl.constexpr):
    o_t = tl.program_id(0) * N + tl.arange(0, N)
    o_g = o_t % G
    o_d = tl.arange(0, M)
    m_d = o_d < D
    m_x = (o_t < T)[:, None] & m_d[None, :]
    b_x = tl.load(x + o_t[:, None] * D + o_d[None, :], mask=m_x, other=0.0)
    # one row for all where there are no groups
    b_w = (tl.broadcast_to(tl.load(w + o_d, mask=m_d)[None, :], N, M) if G == 1 else tl.load(w + o_g[:, None] * D + o_d[None, :], mask=m_d[None, :])).to(tl.float32)
    tl.store(y + o_t[:, None] * D + o_d[None, :], b_x * b_w, mask=m_x)


def run(x, w, y, T, G, D, N, M):
    grouped_weight[(triton.cdiv(T, N),)](x, w, y, T, G=G, D=D, N=N, M=M)
