import torch
import triton
import triton.language as tl


@triton.jit
def row_sums(x, y, D, BD: tl.constexpr):
    # The tile covers a whole row: there is no second one.
    o_d = tl.arange(0, BD)
    b_x = tl.load(x + tl.program_id(0) * D + o_d, mask=o_d < D, other=0.0)
    tl.store(y + tl.program_id(0), tl.sum(b_x, 0))


def launch(x):
    R, D = x.shape
    BD = triton.next_power_of_2(D)
    y = torch.empty(R)
    row_sums[(R,)](x, y, D, BD)
    return y
