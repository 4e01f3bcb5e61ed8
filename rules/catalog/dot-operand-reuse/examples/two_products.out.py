import triton
import triton.language as tl


@triton.jit
def two_products(q, k, h, s, o, N: tl.constexpr, FLIP: tl.constexpr):
    o_n = tl.arange(0, N)
    tile = o_n[:, None] * N + o_n[None, :]
    b_q = tl.load(q + tile)
    b_k = tl.load(k + tile)
    b_s = tl.dot(tl.load(q + tile), tl.trans(b_k))
    tl.store(s + tile, b_s)
    # b_q and b_s are each read again
    b_o = tl.dot(b_q, tl.load(h + tile))
    b_o = tl.dot(b_s + 0, b_k, b_o)
    if FLIP:
        b_o += tl.dot(b_k, b_s)
    else:
        b_o += tl.dot(b_s, b_k)
    tl.store(o + tile, b_o.to(b_q.dtype))


def run(q, k, h, s, o, N, FLIP):
    two_products[(1,)](q, k, h, s, o, N=N, FLIP=FLIP)
