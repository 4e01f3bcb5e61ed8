import triton
import triton.language as tl


@triton.jit
def ranks(x, rank, count, limit, N: tl.constexpr):
    o_n = tl.arange(0, N)
    hit = tl.load(x + o_n) > limit
    n_hit = tl.sum(hit, axis=0)
    place = tl.cumsum(hit, axis=0)  # 1, 2, ... at the hits
    tl.store(rank + o_n, tl.where(hit, place.to(tl.int32) - 1, -1))
    tl.store(count, n_hit)
    tl.store(count + 1, tl.max(hit, axis=0))


def run(x, rank, count, limit, N):
    ranks[(1,)](x, rank, count, limit, N=N)
