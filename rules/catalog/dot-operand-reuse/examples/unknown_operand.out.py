import triton
import triton.language as tl


@triton.jit
def odd_product(x, y, o, N: tl.constexpr):
    o_n = tl.arange(0, N)
    tile = o_n[:, None] * N + o_n[None, :]
    b_x = tl.load(x + tile)
    # One tile of several is not followed, and it is read again.
    b_a = tl.split(tl.join(b_x, b_x))[N - N]
    b_o = tl.dot(b_a + 0, tl.load(y + tile))
    tl.store(o + tile, b_o + b_a)


def run(x, y, o, N):
    odd_product[(1,)](x, y, o, N=N)
