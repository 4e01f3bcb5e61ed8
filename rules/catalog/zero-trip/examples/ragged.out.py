import triton
import triton.language as tl


@triton.jit
def ragged(x, lengths, y, z, T, N: tl.constexpr, D: tl.constexpr):
    i_n = tl.program_id(0)
    L = tl.load(lengths + i_n)
    o_d = tl.arange(0, D)
    b_y = tl.zeros((D, D), dtype=tl.float32)
    b_z = tl.zeros((D, D), dtype=tl.float32)
    for i_t in range(0, L, N):  # an empty sequence has no trip
        o_t = i_t + tl.arange(0, N)
        b_x = tl.load(x + (i_n * T + o_t)[:, None] * D + o_d[None, :], mask=(o_t < L)[:, None], other=0.0)
        b_y += tl.dot(tl.trans(b_x), b_x)
        b_z = tl.dot(tl.trans(b_x), b_x, b_z)
    b_y = tl.where(L > 0, b_y, 0)
    b_z = tl.where(L > 0, b_z, 0)
    # stored for every sequence
    tl.store(y + i_n * D * D + o_d[:, None] * D + o_d[None, :], b_y)
    tl.store(z + i_n * D * D + o_d[:, None] * D + o_d[None, :], b_z)


def run(x, lengths, y, z, T, N, D):
    ragged[(lengths.numel(),)](x, lengths, y, z, T, N=N, D=D)
