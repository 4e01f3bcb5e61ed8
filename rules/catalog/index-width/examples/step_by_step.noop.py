import triton
import triton.language as tl


@triton.jit
def step_by_step(x, y, T, N: tl.constexpr):
    o_t = tl.program_id(0).to(tl.int64) * N + tl.arange(0, N)
    # The index moves on from trip to trip: no one scalar is its start.
    for _ in range(4):
        m_t = o_t < T
        tl.store(y + o_t, tl.load(x + o_t, mask=m_t, other=0.0), mask=m_t)
        o_t += 4 * N


def run(x, y, T, N):
    step_by_step[(4,)](x, y, T, N=N)
