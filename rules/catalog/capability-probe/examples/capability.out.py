import torch
import triton
import triton.language as tl
from tritonport_runtime import for_target


def is_recent(minimum=8):
    # CUDA compute capability
    major, _ = torch.cuda.get_device_capability(0)
    return major >= minimum


SIZES = [128, 256] if for_target(lambda: is_recent(9), False) else [64]  # tiles
FAST = torch.cuda.is_available() and for_target(is_recent, False)


@triton.autotune(configs=[triton.Config({'N': N}) for N in SIZES], key=['T'])
@triton.jit
def double(x, y, T, N: tl.constexpr):
    o_t = tl.program_id(0) * N + tl.arange(0, N)
    tl.store(y + o_t, 2 * tl.load(x + o_t, mask=o_t < T), mask=o_t < T)


def launch(x):
    y = torch.empty_like(x)
    card = for_target(torch.cuda.get_device_name, '')
    if for_target(lambda: 'H100' in card or torch.cuda.get_device_capability() == (9, 0), False):
        print('large')
    double[lambda meta: (triton.cdiv(x.numel(), meta['N']),)](x, y, x.numel())
    return y
