import triton
import triton.language as tl


@triton.jit
def place(x: tl.constexpr, y: tl.constexpr = None):
    pid = tl.program_id(0)
    if y is None:
        return pid % x, pid // x
    else:
        return pid % x, (pid // x) % y, pid // (x * y)


@triton.jit
def twice(q, k, o, M, N: tl.constexpr, D: tl.constexpr):
    # three parts, so only the second return can have been taken
    i_d, i_m, i_h = place(tl.cdiv(D, N), tl.cdiv(D, N))
    o_n = tl.arange(0, N)
    tile = o_n[:, None] * N + o_n[None, :] + (i_d + i_m + i_h) * N
    b_q = tl.load(q + tile)
    b_k = tl.load(k + tile)
    b_s = tl.dot(tl.load(q + tile), b_k)
    tl.store(o + tile, tl.dot(b_q, b_s))


def run(q, k, o, M, N, D):
    twice[(M,)](q, k, o, M, N=N, D=D)
