import torch
import triton
import triton.language as tl


def is_recent(minimum=8):
    # CUDA compute capability
    major, _ = torch.cuda.get_device_capability(0)
    return major >= minimum


SIZES = [128, 256] if is_recent(9) else [64]  # tiles
FAST = torch.cuda.is_available() and is_recent()


@triton.autotune(configs=[triton.Config({'N': N}) for N in SIZES], key=['T'])
@triton.jit
def double(x, y, T, N: tl.constexpr):
    o_t = tl.program_id(0) * N + tl.arange(0, N)
    tl.store(y + o_t, 2 * tl.load(x + o_t, mask=o_t < T), mask=o_t < T)


def launch(x):
    y = torch.empty_like(x)
    card = torch.cuda.get_device_name()
    if 'H100' in card or torch.cuda.get_device_capability() == (9, 0):
        print('large')
    double[lambda meta: (triton.cdiv(x.numel(), meta['N']),)](x, y, x.numel())
    return y
