"""Program ids, taken apart."""

import triton
import triton.language as tl


@triton.jit
def flat():
    return tl.program_id(0)


@triton.jit
def corner(ACROSS: tl.constexpr):
    pid = flat().to(tl.int64)
    return pid // ACROSS, pid % ACROSS
