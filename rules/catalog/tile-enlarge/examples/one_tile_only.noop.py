import torch
import triton
import triton.language as tl


@triton.jit
def row_max(x, y, D, N, BD: tl.constexpr):
    i_n, i_d = tl.program_id(0), tl.program_id(1)
    o_d = i_d * BD + tl.arange(0, BD)
    b_x = tl.load(x + i_n * D + o_d, mask=o_d < D, other=-float('inf'))
    tl.store(y + i_d * N + i_n, tl.max(b_x, 0))


def launch(x):
    N, D = x.shape
    BD = min(triton.next_power_of_2(D), 65536)
    if D > BD:
        # what the rows are put together with is nowhere
        raise ValueError('rows of 65536 at most')
    y = torch.empty(triton.cdiv(D, BD), N)
    row_max[(N, triton.cdiv(D, BD))](x, y, D, N, BD=BD)
    return y[0]
