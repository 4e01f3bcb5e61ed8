import triton
import triton.language as tl


@triton.jit
def carry(h, T, N: tl.constexpr):
    i_t = tl.program_id(0)
    o_n = tl.arange(0, N)
    # the state of the chunk before
    b_h = tl.load(h + (i_t - 1) * N + o_n, mask=i_t > 0, other=0.0)
    tl.store(h + i_t * N + o_n, b_h + 1.0)


def run(h, T, N):
    carry[(T,)](h, T, N=N)
