import torch
import triton
import triton.language as tl
from tritonport_runtime import for_target


def block(width, device):
    """A size that the code writes down and takes by a compare."""
    if torch.cuda.get_device_properties(device).shared_memory_per_block >= 200000 and width <= 64:
        return 128
    return 64


@triton.jit
def triple(x, y, T, N: tl.constexpr):
    o_t = tl.program_id(0) * N + tl.arange(0, N)
    tl.store(y + o_t, 3 * tl.load(x + o_t, mask=o_t < T), mask=o_t < T)


def launch(x):
    y = torch.empty_like(x)
    N = for_target(lambda: block(x.shape[-1], x.device.index), 64)
    triple[(triton.cdiv(x.numel(), N),)](x, y, x.numel(), N=N)
    return y
