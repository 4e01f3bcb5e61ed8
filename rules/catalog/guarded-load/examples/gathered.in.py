import triton
import triton.language as tl


@triton.jit
def gathered(x, rows, y, n, N: tl.constexpr):
    i = tl.program_id(0) * N + tl.arange(0, N)
    inside = i < n
    row = tl.load(rows + i, mask=inside, other=-1)
    b_x = tl.where(row < 0, 0.0, tl.load(x + row, mask=inside, other=0.0))
    tl.store(y + i, b_x, mask=inside)


def run(x, rows, y, n, N):
    gathered[(triton.cdiv(n, N),)](x, rows, y, n, N=N)
