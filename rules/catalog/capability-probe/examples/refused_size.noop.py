import torch
import triton
import triton.language as tl


@triton.jit
def double(x, y, T, N: tl.constexpr):
    o_t = tl.program_id(0) * N + tl.arange(0, N)
    tl.store(y + o_t, 2 * tl.load(x + o_t, mask=o_t < T), mask=o_t < T)


def launch(x):
    y = torch.empty_like(x)
    # as many elements as the GPU's shared memory holds
    N = torch.cuda.get_device_properties(0).shared_memory_per_block // 8
    double[(triton.cdiv(x.numel(), N),)](x, y, x.numel(), N=N)
    return y
