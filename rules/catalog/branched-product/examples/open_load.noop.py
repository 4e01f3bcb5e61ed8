import triton
import triton.language as tl


@triton.jit
def open_load(x, s, y, T, N: tl.constexpr):
    o = tl.arange(0, N)
    b = tl.load(x + o[:, None] * N + o[None, :])
    p = tl.dot(b, b)
    i = tl.program_id(0) * N
    if i < T:
        # Without the test this would read behind the end of s.
        p *= tl.load(s + i)
    if i > T:
        # Only the test keeps this from being written.
        p *= 2.0
        tl.store(y + o, tl.sum(p, 0))
    if T > 0:
        # A division whose divisor may be zero where the test does not hold.
        p = p * (N // T)
    tl.store(y + o[:, None] * N + o[None, :], p)


def run(x, s, y, T, N):
    open_load[(1,)](x, s, y, T, N=N)
