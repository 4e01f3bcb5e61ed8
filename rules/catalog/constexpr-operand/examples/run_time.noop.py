import triton
import triton.language as tl


@triton.jit
def run_time(x, y, T, D: tl.constexpr, N: tl.constexpr, G: tl.constexpr):
    pid = tl.program_id(0)
    # A tile count that is only known at run time, and a constexpr that stands left already.
    i_g = pid % (tl.cdiv(T, N) * G)
    i_n = pid % (G * tl.cdiv(D, N))
    i_r = pid % (tl.cdiv(D, N) * tl.cdiv(D, N))
    o_n = tl.arange(0, N)
    tl.store(y + i_g * N + o_n, tl.load(x + (i_n + i_r) * N + o_n))


def run(x, y, T, D, N, G):
    run_time[(4,)](x, y, T, D=D, N=N, G=G)
