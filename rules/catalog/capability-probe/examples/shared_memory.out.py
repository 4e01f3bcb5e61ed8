import enum
import functools

import torch
import triton
import triton.language as tl
from triton.runtime import driver
from tritonport_runtime import for_target


class Need(enum.Enum):
    SMALL = 101376  # bytes
    LARGE = 232448

    @classmethod
    def of(cls, name):
        return cls[name.upper()].value


def memory():
    try:
        return [driver.active.utils.get_device_properties(i)['max_shared_mem'] for i in range(2)]
    except Exception:
        return [0]


@functools.cache
def has_memory(name='small', index=0):
    return memory()[index] >= Need.of(name)


@triton.jit
def scale(x, y, T, N: tl.constexpr):
    o_t = tl.program_id(0) * N + tl.arange(0, N)
    tl.store(y + o_t, 3 * tl.load(x + o_t, mask=o_t < T), mask=o_t < T)


def launch(x):
    y = torch.empty_like(x)
    if for_target(lambda: has_memory('large', x.device.index), False):
        N = 1024
    else:
        N = 256 if for_target(has_memory, False) else 128  # at most
    scale[(triton.cdiv(x.numel(), N),)](x, y, x.numel(), N=N)
    return y
