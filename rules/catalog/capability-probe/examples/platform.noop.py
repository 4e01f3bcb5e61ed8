import torch
import triton
import triton.language as tl

# The NPU answers this question itself, and rightly.
IS_NVIDIA = triton.runtime.driver.active.get_current_target().backend == 'cuda'
HAS_TF32 = IS_NVIDIA and torch.cuda.get_device_capability()[0] >= 8


@triton.jit
def double(x, y, T, N: tl.constexpr):
    o_t = tl.program_id(0) * N + tl.arange(0, N)
    tl.store(y + o_t, 2 * tl.load(x + o_t, mask=o_t < T), mask=o_t < T)


def launch(x):
    y = torch.empty_like(x)
    double[(triton.cdiv(x.numel(), 64),)](x, y, x.numel(), N=64 if HAS_TF32 else 32)
    return y
