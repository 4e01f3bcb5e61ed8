import triton
import triton.language as tl


@triton.jit
def double(x, num_warps: tl.constexpr):
    o = tl.program_id(0)
    tl.store(x + o, tl.load(x + o) * num_warps)


def run(x):
    double[(x.numel(),)](x, num_warps=4)
