import triton
import triton.language as tl


@triton.jit
def either_way(x, y, R: tl.constexpr, C: tl.constexpr, TURNED: tl.constexpr):
    o_r, o_c = tl.arange(0, R), tl.arange(0, C)
    if TURNED:
        p_y = y + o_r[None, :] + o_c[:, None] * R
    else:
        p_y = y + o_r[:, None] * C + o_c[None, :]
    b_x = tl.load(x + o_r[:, None] * C + o_c[None, :])
    # Either way round.
    if TURNED:
        tl.store(p_y, tl.trans(b_x * 2.0), mask=(o_r < R)[None, :])
    else:
        tl.store(p_y, b_x * 2.0, mask=(o_r < R)[:, None])


def run(x, y, R, C, TURNED):
    either_way[(1,)](x, y, R=R, C=C, TURNED=TURNED)
