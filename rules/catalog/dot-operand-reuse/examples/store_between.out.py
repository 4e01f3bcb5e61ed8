import torch
import triton
import triton.language as tl


@triton.jit
def store_between(a, b, y, z, N: tl.constexpr):
    o_n = tl.arange(0, N)
    tile = o_n[:, None] * N + o_n[None, :]
    b_a = tl.load(a + tile)
    b_b = tl.load(b + tile)
    tl.store(y + tile, b_b)
    # y may be a: a load here could give what was just stored
    tl.store(z + tile, tl.dot(b_a + 0, b_b) + b_a.to(tl.float32))


def run(a, b, y):
    N = a.shape[0]
    z = torch.empty(N, N, device=a.device)
    store_between[(1,)](a, b, y, z, N)
    return z
