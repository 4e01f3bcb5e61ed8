import triton
import triton.language as tl


@triton.jit
def axpy(s, u, slots, D: tl.constexpr):
    p = tl.program_id(0)
    slot = tl.load(slots + p)
    # padding
    if not (slot < 0):
        d = tl.arange(0, D)
        tl.store(s + slot * D + d, tl.load(u + p * D + d))


def run(s, u, slots, D):
    axpy[(slots.numel(),)](s, u, slots, D=D)
