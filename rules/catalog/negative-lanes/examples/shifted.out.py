import triton
import triton.language as tl


@triton.jit
def shifted(x, y, T, W: tl.constexpr, N: tl.constexpr, D: tl.constexpr):
    o_t = tl.program_id(0) * N + tl.arange(0, N)
    o_d = tl.arange(0, D)
    o_w = (tl.program_id(0) * N - W) + tl.arange(0, N)
    b_y = tl.zeros((N, D), dtype=tl.float32)
    p_x = x + o_w[:, None] * D + o_d[None, :]  # W rows earlier
    m_x = (o_w >= 0) & (o_w < T)
    b_y += tl.load(p_x, mask=m_x[:, None], other=0.0)
    tl.store(y + o_t[:, None] * D + o_d[None, :], b_y, mask=(o_t < T)[:, None])


def run(x, y, T, W, N, D):
    shifted[(triton.cdiv(T, N),)](x, y, T, W=W, N=N, D=D)
