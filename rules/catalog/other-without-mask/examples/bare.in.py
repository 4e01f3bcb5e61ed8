import triton
import triton.language as tl


@triton.jit
def copy(x, y, B: tl.constexpr):
    o = tl.program_id(0) * B + tl.arange(0, B)
    tl.store(y + o, tl.load(x + o, other=0.0))  # whole blocks


def run(x, y):
    copy[(4,)](x, y, B=16)
