import triton
import triton.language as tl

WARPS = [2, 4, 8]


@triton.autotune(
    configs=[
        triton.Config({'N': N}, num_warps=w, num_stages=s)  # 12 on a GPU, 2 on the target
        for N in [64, 128]
        for w in WARPS
        for s in [2, 3]
    ],
    key=['T'],
)
@triton.jit
def double(x, y, T, N: tl.constexpr):
    o_t = tl.program_id(0) * N + tl.arange(0, N)
    tl.store(y + o_t, 2 * tl.load(x + o_t, mask=o_t < T), mask=o_t < T)


@triton.autotune([triton.Config({}, num_warps=w) for w in WARPS], key=['T'])
@triton.jit
def negate(x, y, T, N: tl.constexpr):
    o_t = tl.program_id(0) * N + tl.arange(0, N)
    tl.store(y + o_t, -tl.load(x + o_t, mask=o_t < T), mask=o_t < T)


def run(x, y, z, T):
    double[lambda meta: (triton.cdiv(T, meta['N']),)](x, y, T)
    negate[(triton.cdiv(T, 64),)](y, z, T, N=64)
