import triton
import triton.language as tl


@triton.jit
def again_in_loop(x, g, y, T, D: tl.constexpr, N: tl.constexpr, USE_G: tl.constexpr):
    o_d = tl.arange(0, D)
    b_y = tl.zeros([N, D], dtype=tl.float32)
    for i_t in range(tl.cdiv(T, N)):
        o_t = i_t * N + tl.arange(0, N)
        b_x = tl.load(x + o_t[:, None] * D + o_d[None, :], mask=(o_t < T)[:, None], other=0.0)
        if USE_G:
            # the same columns once more
            o_d = tl.arange(0, D)
            b_x = b_x * tl.load(g + i_t * D + o_d)[None, :]
        b_y += b_x
    o_n = tl.arange(0, N)
    tl.store(y + o_n[:, None] * D + o_d[None, :], b_y)


def run(x, g, y, T, D, N, USE_G):
    again_in_loop[(1,)](x, g, y, T, D=D, N=N, USE_G=USE_G)
