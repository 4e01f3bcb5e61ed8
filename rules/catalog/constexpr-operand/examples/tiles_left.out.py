import triton
import triton.language as tl


@triton.jit
def tiles_left(x, y, D: tl.constexpr, N: tl.constexpr, G: tl.constexpr):
    pid = tl.program_id(0)
    # the tiles of all groups
    i_g = pid % (G * tl.cdiv(D, N))
    i_n = pid % (1 + tl.cdiv(D, N))
    i_r = pid % ((0 + tl.cdiv(D, N)) // G + 1)
    o_n = tl.arange(0, N)
    tl.store(y + i_g * N + o_n, tl.load(x + (i_n + i_r) * N + o_n))


def run(x, y, D, N, G):
    tiles_left[(4,)](x, y, D=D, N=N, G=G)
