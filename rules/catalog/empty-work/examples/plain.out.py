import triton
import triton.language as tl
from tritonport_runtime import unless_empty


@triton.jit
def double(x):
    o = tl.program_id(0)
    tl.store(x + o, tl.load(x + o) * 2)


def run(x):
    unless_empty(double)[(x.numel(),)](x)  # in place
