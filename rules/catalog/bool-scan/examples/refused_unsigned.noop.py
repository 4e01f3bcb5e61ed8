import triton
import triton.language as tl


@triton.jit
def unsigned(x, rank, limit, N: tl.constexpr):
    o_n = tl.arange(0, N)
    hit = tl.load(x + o_n) > limit
    # An unsigned count less one: 4294967295 where nothing was counted yet.
    tl.store(rank + o_n, tl.cumsum(hit, axis=0) - 1)


def run(x, rank, limit, N):
    unsigned[(1,)](x, rank, limit, N=N)
