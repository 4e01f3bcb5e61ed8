import triton
import triton.language as tl


@triton.jit
def whole_index(x, y, T, N: tl.constexpr):
    # The index itself is stored: there it must stay whole.
    rows = tl.program_id(0).to(tl.int64) * N + tl.arange(0, N)
    tl.store(y + rows, rows % 7, mask=rows < T)


def run(x, y, T, N):
    whole_index[(triton.cdiv(T, N),)](x, y, T, N=N)
