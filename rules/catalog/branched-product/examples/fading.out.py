import triton
import triton.language as tl


@triton.jit
def fading(x, s, y, z, T, N: tl.constexpr, D: tl.constexpr, SCALED: tl.constexpr):
    o = tl.arange(0, N)
    o_d = tl.arange(0, D)
    acc = tl.zeros([D, D], dtype=tl.float32)
    for i in range(0, tl.cdiv(T, N)):
        b = tl.load(x + (i * N + o)[:, None] * D + o_d[None, :], mask=(i * N + o < T)[:, None], other=0.0)
        p = tl.dot(b, tl.trans(b))
        # rows weigh less and less
        # not those of the first tile
        fade = tl.exp(-0.5 * i)
        p = tl.where(i > 0, p * fade, p)
        acc = tl.dot(tl.trans(b), tl.dot(p, b), acc)
    # the tile at the end, if there is one
    i_last = tl.program_id(0) * N
    m = i_last + o_d < T
    if SCALED:
        tl.store(z + i_last + o_d, tl.sum(acc, 1), mask=m)

        b_s = tl.load(s + i_last + o_d, mask=m, other=0.0)
        acc = tl.where(i_last < T, acc * b_s[:, None], acc)
        # rows are scaled
    tl.store(y + o_d[:, None] * D + o_d[None, :], acc)


def run(x, s, y, z, T, N, D):
    fading[(1,)](x, s, y, z, T, N=N, D=D, SCALED=True)
