import settings
import triton
import triton.language as tl
from settings import PRECISION


@triton.jit
def elsewhere(x, y, N: tl.constexpr):
    o_n = tl.arange(0, N)
    b_x = tl.load(x + o_n[:, None] * N + o_n[None, :])
    b_y = tl.dot(b_x, b_x, input_precision=PRECISION)
    b_y += tl.dot(b_x, b_x, input_precision=settings.INNER)
    tl.store(y + o_n[:, None] * N + o_n[None, :], b_y)


def run(x, y, N):
    elsewhere[(1,)](x, y, N=N)
