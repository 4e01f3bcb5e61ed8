import torch
import triton
import triton.language as tl


@triton.jit
def centred(x):
    return x - tl.sum(x) / 8


@triton.jit
def decay(g, o, T, H: tl.constexpr, N: tl.constexpr):
    i_t, i_h = tl.program_id(0), tl.program_id(1)
    o_t = i_t * N + tl.arange(0, N)
    b_g = tl.load(g + i_h + o_t * H, mask=o_t < T, other=0.0)
    # the helper sums over whatever it is given: over all heads, in a tile of them
    tl.store(o + i_h + o_t * H, centred(b_g), mask=o_t < T)


def run(g):
    T, H = g.shape
    o = torch.empty_like(g)
    decay[(triton.cdiv(T, 8), H)](g=g, o=o, T=T, H=H, N=8)
    return o
