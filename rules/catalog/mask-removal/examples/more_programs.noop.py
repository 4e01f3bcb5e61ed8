import triton
import triton.language as tl


@triton.jit
def more_programs(x, y, T, BT: tl.constexpr):
    o_t = tl.program_id(0) * BT + tl.arange(0, BT)
    # Nothing says that there are as many programs as tiles.
    tl.store(y + o_t, tl.load(x + o_t, mask=o_t < T), mask=o_t < T)


def run(x, y, T, BT, programs):
    more_programs[(programs,)](x, y, T, BT=BT)
