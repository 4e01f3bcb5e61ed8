import torch
import triton
import triton.language as tl


@triton.jit
def gated(x, g, y, T, H: tl.constexpr, N: tl.constexpr):
    i_h, o_n = tl.program_id(0) % H, tl.arange(0, N)
    b_x = tl.load(x + o_n[:, None] * N + o_n[None, :])
    b_g = tl.load(g + i_h + o_n * H, mask=o_n < T, other=0.0)
    tl.store(y + o_n[:, None] * N + o_n[None, :], tl.dot(b_x, b_x) * b_g[:, None])


def run(x, g, **sizes):
    y = torch.empty_like(x)
    # Which head count goes with g is known to the caller alone.
    gated[(sizes["H"],)](x, g, y, **sizes)
    return y
