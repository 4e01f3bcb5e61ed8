import triton
import triton.language as tl


@triton.jit
def length(ends, table, y, T, VARLEN: tl.constexpr):
    i = tl.program_id(0)
    skip = False
    if VARLEN:
        n = tl.load(table + i)
        skip = n < 0
    if not skip:
        T_ = T
        if VARLEN:
            T_ = tl.load(ends + n + 1) - tl.load(ends + n)  # 64 bit
        tl.store(y + i, T_)


def run(ends, table, y, T):
    length[(4,)](ends, table, y, T=T, VARLEN=True)
