import triton
import triton.language as tl


@triton.jit
def known_trips(x, h, y, L, K: tl.constexpr, D: tl.constexpr):
    o_d = tl.arange(0, D)
    b_y = tl.zeros((D, D), dtype=tl.float32)
    # decided when the kernel compiles
    for i_k in range(tl.cdiv(K, D)):
        b_x = tl.load(x + (i_k * D + o_d)[:, None] * D + o_d[None, :])
        b_y += tl.dot(b_x, b_x)
    b_h = tl.load(h + o_d[:, None] * D + o_d[None, :])
    for _ in range(L):
        b_h += tl.dot(b_y, b_y)  # starts from what was loaded
    tl.store(y + o_d[:, None] * D + o_d[None, :], b_y + b_h)


def run(x, h, y, L, K, D):
    known_trips[(1,)](x, h, y, L, K=K, D=D)
