import triton
import triton.language as tl


@triton.jit
def read_once(q, k, o, N: tl.constexpr):
    o_n = tl.arange(0, N)
    tile = o_n[:, None] * N + o_n[None, :]
    b_q = tl.load(q + tile)
    b_k = tl.load(k + tile)
    # Right operands are not overwritten, and asking for a dtype reads nothing.
    b_o = tl.dot(b_q, b_k)
    tl.store(o + tile, tl.dot(b_o.to(b_q.dtype), b_k))


def run(q, k, o, N):
    read_once[(1,)](q, k, o, N=N)
