import triton
import triton.language as tl


@triton.jit
def tile(x, y, T, H: tl.constexpr, D: tl.constexpr, N: tl.constexpr):
    i_t, i_h = tl.program_id(0), tl.program_id(1)
    # one head of [T, H, D]
    d_x_0 = tl.arange(0, N)
    d_x_1 = tl.arange(0, 16)  # zeros outside
    d_y_0 = tl.arange(0, N)
    d_y_1 = tl.arange(0, 16)
    b_x = tl.load(x + i_h * D + tl.cast(i_t * N - 1, tl.int64) * (H * D) + d_x_0[:, None] * (H * D) + d_x_1[None, :], mask=((i_t * N - 1 + d_x_0 >= 0) & (i_t * N - 1 + d_x_0 < T))[:, None] & (d_x_1 < D)[None, :], other=0)
    b_x += tl.load(x + i_h * D + tl.cast(i_t * N, tl.int64) * (H * D) + d_x_0[:, None] * (H * D) + d_x_1[None, :], mask=((i_t * N + d_x_0 >= 0) & (i_t * N + d_x_0 < T))[:, None] & (d_x_1 < D)[None, :], other=0) * 2.0
    tl.store(y + i_h * D + tl.cast(i_t * N, tl.int64) * (H * D) + d_y_0[:, None] * (H * D) + d_y_1[None, :], b_x - tl.load(x + i_h * D + tl.cast(i_t * N + 1, tl.int64) * (H * D) + d_x_0[:, None] * (H * D) + d_x_1[None, :], mask=((i_t * N + 1 + d_x_0 >= 0) & (i_t * N + 1 + d_x_0 < T))[:, None] & (d_x_1 < D)[None, :], other=0), mask=((i_t * N + d_y_0 >= 0) & (i_t * N + d_y_0 < T))[:, None] & (d_y_1 < D)[None, :])


def run(x, y, T, H, D, N):
    tile[(triton.cdiv(T, N), H)](x, y, T, H=H, D=D, N=N)
