import torch
import triton
import triton.language as tl


@triton.jit
def scale_rows(x, g, y, first, T, H: tl.constexpr, N: tl.constexpr):
    i_t, i_bh = tl.program_id(0), tl.program_id(1)
    i_b, i_h = i_bh // H, i_bh % H
    o_t = first + i_t * N + tl.arange(0, N)
    m_t = o_t < T
    b_g = tl.load(g + (i_b * T + o_t) * H + i_h, mask=m_t, other=0.0)
    o_n = tl.arange(0, N)
    eye = (o_n[:, None] == o_n[None, :]).to(tl.float32)
    b_y = tl.sum(tl.dot(eye, eye) * b_g[None, :], 1) * tl.load(x)
    tl.store(y + (i_b * T + o_t) * H + i_h, b_y, mask=m_t)


_BUFFERS = {}


def buffer(like):
    """Memory that is used again by every call with this shape."""
    if like.shape not in _BUFFERS:
        _BUFFERS[like.shape] = torch.empty_like(like)
    return _BUFFERS[like.shape]


def run(x, g):
    B, T, H = g.shape
    y = buffer(g)
    scale_rows[(triton.cdiv(T, 16), B * H)](x, g, y, 0, T, H, 16)
    return y
