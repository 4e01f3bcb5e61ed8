import triton
import triton.language as tl


@triton.jit
def shared_address(x, rows, y, N: tl.constexpr):
    i = tl.arange(0, N)
    row = tl.load(rows + i)
    p_x = x + row
    b_x = tl.load(p_x, mask=row >= 0, other=0.0)
    b_z = tl.load(p_x)  # the same address, without the mask
    tl.store(y + i, b_x + b_z)


def run(x, rows, y, N):
    shared_address[(1,)](x, rows, y, N=N)
