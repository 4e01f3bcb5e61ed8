import triton
import triton.language as tl


@triton.jit
def strided_tile(q, k, s, T, H: tl.constexpr, K: tl.constexpr, N: tl.constexpr):
    i_t, i_h = tl.program_id(0), tl.program_id(1)
    o_t = i_t * N + tl.arange(0, N)
    o_k = tl.arange(0, K)
    m_t = o_t < T
    p_q = q + i_h * K + o_t[:, None] * (H * K) + o_k[None, :]
    p_k = k + i_h * K + o_k[:, None] + o_t[None, :] * (H * K)
    b_q = tl.load(p_q, mask=m_t[:, None], other=0.0)
    # [K, N]
    b_k = tl.load(p_k, mask=m_t[None, :], other=0.0)
    p_s = s + (i_t * H + i_h) * N * N + tl.arange(0, N)[:, None] * N + tl.arange(0, N)[None, :]
    tl.store(p_s, tl.dot(b_q, b_k))


def run(q, k, s, T, H, K, N):
    strided_tile[(triton.cdiv(T, N), H)](q, k, s, T, H=H, K=K, N=N)
