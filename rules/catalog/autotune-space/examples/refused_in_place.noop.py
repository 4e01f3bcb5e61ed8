import triton
import triton.language as tl


@triton.autotune(configs=[triton.Config({'N': 64}), triton.Config({'N': 128})], key=['T'])
@triton.jit
def scale(x, T, N: tl.constexpr):
    o_t = tl.program_id(0) * N + tl.arange(0, N)
    # Every trial doubles again.
    tl.store(x + o_t, 2 * tl.load(x + o_t, mask=o_t < T), mask=o_t < T)


def run(x, T):
    scale[(triton.cdiv(T, 128),)](x, T)
