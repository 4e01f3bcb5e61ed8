import triton
import triton.language as tl


@triton.jit
def vector(x, y, T, N: tl.constexpr):
    i_t = tl.program_id(0)
    d_x = tl.make_tensor_descriptor(x, [T], [1], [N])
    b_x = tl.load_tensor_descriptor(d_x, [i_t * N])
    o_t = i_t * N + tl.arange(0, N)
    tl.store(y + o_t, b_x + 1.0, mask=o_t < T)


def run(x, y, T, N):
    vector[(triton.cdiv(T, N),)](x, y, T, N=N)
