import triton
import triton.language as tl


@triton.jit
def whole_index(x, y, T, N: tl.constexpr):
    o_t = tl.program_id(0) * N + tl.arange(0, N)
    m_t = o_t < T
    # The index of a whole sequence: above 2^24, float32 has no number for every row.
    tl.store(y + o_t, tl.where(o_t < T - 1, tl.load(x + o_t, mask=m_t, other=0.0), 0.0), mask=m_t)


def run(x, y, T, N):
    whole_index[(triton.cdiv(T, N),)](x, y, T, N=N)
