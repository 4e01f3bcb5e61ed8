import triton
import triton.language as tl


@triton.heuristics({'IS_VARLEN': lambda args: args['cu_seqlens'] is not None})
@triton.jit
def packed(x, y, cu_seqlens, T, D: tl.constexpr, BT: tl.constexpr, BD: tl.constexpr, IS_VARLEN: tl.constexpr):
    i_t = tl.program_id(0)
    if IS_VARLEN:
        T = tl.load(cu_seqlens + 1)  # the first sequence alone
    o_t = i_t * BT + tl.arange(0, BT)
    for i_d in range(tl.cdiv(D, BD)):
        o_d = i_d * BD + tl.arange(0, BD)
        m_x = (o_t < T)[:, None] & (o_d < D)[None, :]
        p_x = o_t[:, None] * D + o_d[None, :]
        tl.store(y + p_x, tl.load(x + p_x, mask=m_x, other=0) + 1, mask=m_x)


def run(x, y, BT, BD, cu_seqlens=None):
    T, D = x.shape
    packed[(triton.cdiv(T, BT),)](x, y, cu_seqlens, T=T, D=D, BT=BT, BD=BD)
