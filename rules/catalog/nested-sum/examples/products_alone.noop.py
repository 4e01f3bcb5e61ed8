import triton
import triton.language as tl


@triton.jit
def products_alone(x, y, T, N: tl.constexpr, D: tl.constexpr, M: tl.constexpr):
    o = tl.arange(0, N)
    o_d = tl.arange(0, D)
    acc = tl.zeros([D, D], dtype=tl.float32)
    for t in range(M):
        c = tl.load(x + (t * N + o)[:, None] * D + o_d[None, :])
        for i in range(0, T, N):
            b = tl.load(x + (i + o)[:, None] * D + o_d[None, :], mask=(i + o < T)[:, None], other=0.0)
            acc = tl.dot(tl.trans(b), b, acc)
        # Made of nothing that the inner loop gives: the compiler takes it.
        acc = tl.dot(tl.trans(c), c, acc)
    tl.store(y + o_d[:, None] * D + o_d[None, :], acc)


def run(x, y, T, N, D, M):
    products_alone[(1,)](x, y, T, N=N, D=D, M=M)
