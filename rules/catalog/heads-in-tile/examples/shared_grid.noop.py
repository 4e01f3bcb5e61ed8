import torch
import triton
import triton.language as tl


@triton.jit
def running_sum(s, o, T, H: tl.constexpr, N: tl.constexpr):
    i_t, i_h = tl.program_id(0), tl.program_id(1)
    o_t = i_t * N + tl.arange(0, N)
    b_s = tl.load(s + i_h + o_t * H, mask=o_t < T, other=0.0)
    tl.store(o + i_h + o_t * H, tl.cumsum(b_s, axis=0), mask=o_t < T)


@triton.jit
def marks(o, T, H: tl.constexpr, N: tl.constexpr):
    tl.store(o + tl.program_id(0) * N * H + tl.program_id(1), 1.0)


def run(s):
    T, H = s.shape
    o = torch.empty_like(s)
    # both kernels are launched with it, and the second one has a program per head
    grid = (triton.cdiv(T, 8), H)
    running_sum[grid](s=s, o=o, T=T, H=H, N=8)
    marks[grid](o=o, T=T, H=H, N=8)
    return o
