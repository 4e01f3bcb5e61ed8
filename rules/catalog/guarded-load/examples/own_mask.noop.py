import triton
import triton.language as tl


@triton.jit
def own_mask(x, y, T, N: tl.constexpr):
    o_t = tl.program_id(0) * N + tl.arange(0, N)
    m_t = o_t < T
    # The load has a mask of its own; the triangle chooses among lanes that may be read.
    b_x = tl.load(x + o_t[:, None] * N + tl.arange(0, N)[None, :], mask=m_t[:, None], other=0.0)
    b_y = tl.where(tl.arange(0, N)[:, None] > tl.arange(0, N)[None, :], b_x, 0.0)
    tl.store(y + o_t[:, None] * N + tl.arange(0, N)[None, :], b_y, mask=m_t[:, None])


def run(x, y, T, N):
    own_mask[(triton.cdiv(T, N),)](x, y, T, N=N)
