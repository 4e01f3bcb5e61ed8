import triton
import triton.language as tl


@triton.heuristics({"SPAN": lambda args: 16})
@triton.jit
def double(x, SPAN: tl.constexpr):
    o = tl.program_id(0) * SPAN + tl.arange(0, SPAN)
    tl.store(x + o, tl.load(x + o) * 2)


def run(x, choose):
    double[choose(x)](x)
