import triton
import triton.language as tl


@triton.jit
def already_local(x, y, D: tl.constexpr, N: tl.constexpr):
    i_t = tl.program_id(0).to(tl.int64)
    o_n, o_d = tl.arange(0, N), tl.arange(0, D)
    for i_d in range(0, 4):
        o_d += i_d
    b_x = tl.load(x + i_t * (N * D) + o_n[:, None] * D + o_d[None, :])
    tl.store(y + i_t * (N * D) + o_n[:, None] * D + o_d[None, :], b_x)


def run(x, y, D, N):
    already_local[(1,)](x, y, D=D, N=N)
