import triton
import triton.language as tl


@triton.jit
def masked(o):
    return o >= 0


@triton.jit
def refused_helper(x, y, R: tl.constexpr, C: tl.constexpr):
    rows, cols = tl.arange(0, R), tl.arange(0, C)
    o_x = rows[:, None] + cols[None, :] * R
    # The mask comes out of a helper: it cannot be turned around here.
    b_x = tl.load(x + o_x, mask=masked(o_x), other=0.0)
    tl.store(y + rows[:, None] * C + cols[None, :], b_x)


def run(x, y, R, C):
    refused_helper[(1,)](x, y, R=R, C=C)
