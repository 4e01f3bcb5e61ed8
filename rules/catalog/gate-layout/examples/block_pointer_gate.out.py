import triton
import triton.language as tl
from tritonport_runtime import head_first, head_rows


@triton.jit
def block_pointer_gate(x, g, y, T, H: tl.constexpr, D: tl.constexpr, N: tl.constexpr, g_rows):
    i_t, i_bh = tl.program_id(0), tl.program_id(1)
    i_b, i_h = i_bh // H, i_bh % H
    p_x = tl.make_block_ptr(x + (i_b * T * H + i_h) * D, (T, D), (H * D, 1), (i_t * N, 0), (N, D), (1, 0))
    p_g = tl.make_block_ptr(g + i_b * T + tl.cast(i_h, tl.int64) * g_rows, (T,), (1,), (i_t * N,), (N,), (0,))
    p_y = tl.make_block_ptr(y + (i_b * T * H + i_h) * N, (T, N), (H * N, 1), (i_t * N, 0), (N, N), (1, 0))
    b_x = tl.load(p_x, boundary_check=(0, 1))
    b_g = tl.load(p_g, boundary_check=(0,))
    tl.store(p_y, tl.dot(b_x, tl.trans(b_x)) * b_g[:, None], boundary_check=(0, 1))


def run(x, g, N):
    B, T, H, D = x.shape
    y = x.new_empty(B, T, H, N)
    block_pointer_gate[(triton.cdiv(T, N), B * H)](x, head_first(g, H), y, T, H, D, N, g_rows=head_rows(g, H))
    return y
