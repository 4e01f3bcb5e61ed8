import torch
import triton
import triton.language as tl
from tritonport_runtime import copy_back, head_first, head_first_empty, head_rows


@triton.heuristics({"USE_G": lambda args: args["g"] is not None})
@triton.jit
def gated_rows(x, g, g_rows, beta, beta_rows, y, dg, dg_rows, T, H: tl.constexpr, D: tl.constexpr, N: tl.constexpr, USE_G: tl.constexpr):
    i_t, i_bh = tl.program_id(0), tl.program_id(1).to(tl.int64)
    i_b, i_h = i_bh // H, i_bh % H
    bos = i_b * T
    o_n, o_d = tl.arange(0, N), tl.arange(0, D)
    m_t = i_t * N + o_n < T
    x += ((bos + i_t * N) * H + i_h) * D
    y += ((bos + i_t * N) * H + i_h) * D
    b_x = tl.load(x + o_n[:, None] * (H * D) + o_d[None, :], mask=m_t[:, None], other=0.0)
    b_b = tl.load(beta + bos + i_h * beta_rows + (i_t * N + o_n), mask=m_t, other=0.0)
    b_y = tl.dot(tl.dot(b_x, tl.trans(b_x)), b_x) * b_b[:, None]
    if USE_G:
        g += bos + i_h * g_rows
        dg += bos + i_h * dg_rows
        # one gate per row of this head
        b_g = tl.load(g + (i_t * N + o_n), mask=m_t, other=0.0)
        b_y = b_y * b_g[:, None]
        tl.store(dg + (i_t * N + o_n), tl.sum(b_y, 1), mask=m_t)
    tl.store(y + o_n[:, None] * (H * D) + o_d[None, :], b_y, mask=m_t[:, None])


def run(x, g, beta, N):
    B, T, H, D = x.shape
    y = torch.empty_like(x)
    dg = torch.empty_like(g) if g is not None else None
    # grid: tiles of rows, heads
    dg_hf = head_first_empty(dg, H)
    gated_rows[(triton.cdiv(T, N), B * H)](
        x=x,
        g=head_first(g, H),
        beta=head_first(beta, H),
        y=y,
        dg=dg_hf,
        T=T,
        H=H,
        D=D,
        N=N,
        beta_rows=head_rows(beta, H),
        g_rows=head_rows(g, H),
        dg_rows=head_rows(dg, H),
    )
    copy_back(dg, dg_hf)
    return y, dg
