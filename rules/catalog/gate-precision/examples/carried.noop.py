import triton
import triton.language as tl


@triton.jit
def carried(a, b, g, y, T, N: tl.constexpr):
    o = tl.arange(0, N)
    p = o[:, None] * N + o[None, :]
    s = tl.dot(tl.load(a + p), tl.load(b + p))
    w = tl.load(g + o)
    s *= w[:, None]
    for i in range(T):
        # the loop carries w, so both loads have one type; here it rounds
        w = tl.load(g + i * N + o)
        s += tl.dot(tl.load(a + p) * w[:, None], tl.load(b + p))
    tl.store(y + p, s)
