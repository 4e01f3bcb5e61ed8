import torch
import triton
import triton.language as tl


@triton.jit
def own_scale(x, y, n, B: tl.constexpr):
    # one scale per B elements: B is part of the result
    o = tl.program_id(0) * B + tl.arange(0, B)
    b_x = tl.load(x + o, mask=o < n, other=0.0)
    b_scale = tl.max(tl.abs(b_x), 0) + 1e-6
    tl.store(y + o, b_x / b_scale, mask=o < n)


def launch(x):
    n = x.numel()
    y = torch.empty_like(x)
    B = 128 if x.dtype == torch.float16 else 32
    own_scale[(triton.cdiv(n, B),)](x, y, n, B=B)
    return y
