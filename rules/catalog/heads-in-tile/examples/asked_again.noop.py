import torch
import triton
import triton.language as tl


@triton.jit
def decay(g, seen, o, T, H: tl.constexpr, N: tl.constexpr):
    i_t, i_h = tl.program_id(0), tl.program_id(1)
    o_t = i_t * N + tl.arange(0, N)
    b_g = tl.load(g + i_h + o_t * H, mask=o_t < T, other=0.0)
    tl.store(o + i_h + o_t * H, 2 * b_g, mask=o_t < T)
    # the program id once more, not by the name of the head
    tl.store(seen + i_t * H + tl.program_id(1), 1)


def run(g, seen):
    T, H = g.shape
    o = torch.empty_like(g)
    decay[(triton.cdiv(T, 8), H)](g=g, seen=seen, o=o, T=T, H=H, N=8)
    return o
