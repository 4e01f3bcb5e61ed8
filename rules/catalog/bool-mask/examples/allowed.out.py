import triton
import triton.language as tl


@triton.jit
def allowed(x, keep, y, n, N: tl.constexpr):
    row = tl.program_id(0)
    o_n = tl.arange(0, N)
    inside = o_n < n
    b_keep = tl.load(keep + row * n + o_n, mask=inside, other=0)  # torch.bool
    b_x = tl.load(x + row * n + o_n, mask=inside & (b_keep != 0), other=0.0)
    dropped = inside & ~(b_keep != 0)
    tl.store(y + row * n + o_n, -1.0, mask=dropped)
    tl.store(y + row * n + o_n, b_x, mask=inside & (tl.load(keep + row * n + o_n, mask=inside, other=0) != 0))


def run(x, keep, y, n, N):
    allowed[(x.shape[0],)](x, keep, y, n, N=N)
