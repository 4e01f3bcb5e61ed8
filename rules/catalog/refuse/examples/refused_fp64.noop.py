import triton
import triton.language as tl


@triton.jit
def total(x, y, n, N: tl.constexpr):
    o_n = tl.program_id(0) * N + tl.arange(0, N)
    # The sum of float32 values is meant to be exact here.
    b_x = tl.load(x + o_n, mask=o_n < n, other=0.0).to(tl.float64)
    tl.store(y + tl.program_id(0), tl.sum(b_x, 0))


def run(x, y, n, N):
    total[(triton.cdiv(n, N),)](x, y, n, N=N)
