import triton
import triton.language as tl


@triton.jit
def either_way(h, v, o, K: tl.constexpr, V: tl.constexpr, V_FIRST: tl.constexpr):
    o_k, o_v = tl.arange(0, K), tl.arange(0, V)
    if V_FIRST:
        p_h = h + o_v[:, None] * K + o_k[None, :]
    else:
        p_h = h + o_v[None, :] + o_k[:, None] * V
    m_h = (o_v < V)[:, None] & (o_k < K)[None, :]
    b_h = tl.load(p_h, mask=m_h, other=0.0) if V_FIRST else tl.trans(tl.load(p_h, mask=(o_v < V)[None, :] & (o_k < K)[:, None], other=0.0))  # [V, K]
    b_v = tl.load(v + o_v[:, None] * K + o_k[None, :])
    tl.store(o + o_v[:, None] * K + o_k[None, :], b_h * b_v)


def run(h, v, o, K, V, V_FIRST):
    either_way[(1,)](h, v, o, K=K, V=V, V_FIRST=V_FIRST)
