import triton
import triton.language as tl


@triton.autotune(configs=[triton.Config({'N': 64}, num_warps=4)], key=['T'])  # nothing to choose from
@triton.jit
def double(x, y, T, N: tl.constexpr):
    o_t = tl.program_id(0) * N + tl.arange(0, N)
    tl.store(y + o_t, 2 * tl.load(x + o_t, mask=o_t < T), mask=o_t < T)


def run(x, y, T):
    double[(triton.cdiv(T, 64),)](x, y, T)
