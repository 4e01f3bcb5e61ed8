import torch
import triton
import triton.language as tl

# No NPU answers yes.
HAS_TMA = torch.cuda.get_device_capability()[0] >= 9


@triton.jit
def either(x, y, T, N: tl.constexpr, USE_TMA: tl.constexpr):
    o_t = tl.program_id(0) * N + tl.arange(0, N)
    if not USE_TMA:
        b_x = tl.load(x + o_t, mask=o_t < T, other=0)
    else:
        d_x = tl.make_tensor_descriptor(x, [T], [1], [N])
        b_x = d_x.load([tl.program_id(0) * N])
    tl.store(y + o_t, b_x, mask=o_t < T)


def run(x, y, T, N):
    either[(triton.cdiv(T, N),)](x, y, T, N=N, USE_TMA=HAS_TMA)
