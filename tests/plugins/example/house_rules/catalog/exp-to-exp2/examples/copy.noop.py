import triton
import triton.language as tl


@triton.jit
def decay(src, dst, TILE: tl.constexpr):
    at = tl.program_id(0) * TILE + tl.arange(0, TILE)
    # The gate is in log space.
    tl.store(dst + at, tl.load(src + at))


def run(src, dst):
    decay[(4,)](src, dst, TILE=16)
