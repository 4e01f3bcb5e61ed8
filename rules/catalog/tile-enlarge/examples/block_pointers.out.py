import torch
import triton
import triton.language as tl
from tritonport_runtime import tile


@triton.jit
def negate(x, y, R, C, BR: tl.constexpr, BC: tl.constexpr):
    i_r, i_c = tl.program_id(0), tl.program_id(1)
    p_x = tl.make_block_ptr(x, (R, C), (C, 1), (i_r * BR, i_c * BC), (BR, BC), (1, 0))
    p_y = tl.make_block_ptr(y, (R, C), (C, 1), (i_r * BR, i_c * BC), (BR, BC), (1, 0))
    tl.store(p_y, -tl.load(p_x, boundary_check=(0, 1)), boundary_check=(0, 1))


def launch(x):
    R, C = x.shape
    BR, BC = 16, tile(C, 64)
    y = torch.empty_like(x)
    negate[(triton.cdiv(R, BR), triton.cdiv(C, BC))](x, y, R, C, BR, BC)
    return y
