import triton
import triton.language as tl


@triton.heuristics({'IS_VARLEN': lambda args: args['cu_seqlens'] is not None})
@triton.heuristics({
    'EVEN_T': lambda args: args['T'] % args['BT'] == 0,
})
@triton.jit
def chunks(x, y, cu_seqlens, chunks_of, T, BT: tl.constexpr, IS_VARLEN: tl.constexpr, EVEN_T: tl.constexpr):
    i_t, i_b = tl.program_id(0), tl.program_id(1)
    if IS_VARLEN:
        i_n, i_t = tl.load(chunks_of + i_t * 2), tl.load(chunks_of + i_t * 2 + 1)
        bos, eos = tl.load(cu_seqlens + i_n), tl.load(cu_seqlens + i_n + 1)
        T = eos - bos
    else:
        bos = i_b * T
    o_t = i_t * BT + tl.arange(0, BT)
    m_t = o_t < T
    tl.store(y + bos + o_t, tl.load(x + bos + o_t, mask=None if not IS_VARLEN and EVEN_T else m_t, other=None if not IS_VARLEN and EVEN_T else 0) + 1, mask=None if not IS_VARLEN and EVEN_T else m_t)


def run(x, y, T, BT, cu_seqlens=None, chunks_of=None):
    NT = triton.cdiv(T, BT) if cu_seqlens is None else len(chunks_of)
    chunks[(NT, x.shape[0])](x, y, cu_seqlens, chunks_of, T=T, BT=BT)
