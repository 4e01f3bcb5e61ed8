import triton
import triton.language as tl


@triton.jit
def shifted_rows(x, y, T, W: tl.constexpr, N: tl.constexpr):
    i_t = tl.program_id(0).to(tl.int64)
    o_t_base = i_t * N
    o_t = tl.arange(0, N)
    b_y = tl.zeros((N,), dtype=tl.float32)
    for i_w in tl.static_range(0, W):
        # reaches into the next tile
        o_x_base = o_t_base
        o_x = o_t + i_w
        b_y += tl.load(x + o_x_base + o_x, mask=(o_x_base + o_x) < T, other=0.0)
    tl.store(y + o_t_base + o_t, b_y, mask=o_t < tl.maximum(tl.minimum(T - o_t_base, N), 0).to(tl.int32))


def run(x, y, T, W, N):
    shifted_rows[(triton.cdiv(T, N),)](x, y, T, W=W, N=N)
