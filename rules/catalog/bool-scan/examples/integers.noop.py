import triton
import triton.language as tl


@triton.jit
def integers(x, count, limit, N: tl.constexpr):
    hit = tl.load(x + tl.arange(0, N)) > limit
    # Counted in integers by its author.
    tl.store(count, tl.sum(hit.to(tl.int32), axis=0))


def run(x, count, limit, N):
    integers[(1,)](x, count, limit, N=N)
