import triton
import triton.language as tl


@triton.jit
def spread(x, y, T, S, N: tl.constexpr):
    i_t = tl.program_id(0).to(tl.int64)
    o_t_base = i_t * N
    o_t = tl.arange(0, N)
    # A lane times a stride that only the host knows may not fit 32 bits.
    b_x = tl.load(x + (o_t_base + o_t) * S, mask=o_t < tl.maximum(tl.minimum(T - o_t_base, N), 0).to(tl.int32), other=0.0)
    tl.store(y + o_t_base + o_t, b_x, mask=o_t < tl.maximum(tl.minimum(T - o_t_base, N), 0).to(tl.int32))


def run(x, y, T, S, N):
    spread[(triton.cdiv(T, N),)](x, y, T, S, N=N)
