import triton
import triton.language as tl


@triton.jit
def whole_index(x, y, T, N: tl.constexpr):
    # The index itself is stored: there it must stay whole.
    rows_base = tl.program_id(0).to(tl.int64) * N
    rows = tl.arange(0, N)
    tl.store(y + rows_base + rows, (rows_base + rows) % 7, mask=rows < tl.maximum(tl.minimum(T - rows_base, N), 0).to(tl.int32))


def run(x, y, T, N):
    whole_index[(triton.cdiv(T, N),)](x, y, T, N=N)
