import triton
import triton.language as tl


@triton.jit
def blocks_of_blocks(x, y, T, N: tl.constexpr, D: tl.constexpr, M: tl.constexpr):
    o = tl.arange(0, N)
    o_d = tl.arange(0, D)
    acc = tl.zeros([D, D], dtype=tl.float32)
    for t in range(M):
        c = tl.load(x + (t * N + o)[:, None] * D + o_d[None, :])
        q = tl.zeros([N, N], dtype=tl.float32)
        # rows up to T
        acc_inner = tl.zeros([D, D], dtype=tl.float32)
        for i in range(0, T, N):
            b = tl.load(x + (i + o)[:, None] * D + o_d[None, :], mask=(i + o < T)[:, None], other=0.0)
            q = tl.dot(b, tl.trans(c), q)
            if t == 0:
                acc_inner = tl.dot(tl.trans(b), b, acc_inner)
        acc += acc_inner
        acc = tl.dot(tl.trans(c), tl.dot(q * 0.5, c), acc)
    tl.store(y + o_d[:, None] * D + o_d[None, :], acc)


def run(x, y, T, N, D, M):
    blocks_of_blocks[(1,)](x, y, T, N=N, D=D, M=M)
