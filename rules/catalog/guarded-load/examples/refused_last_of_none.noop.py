import triton
import triton.language as tl


@triton.jit
def last_in_all(x, y, count, W: tl.constexpr):
    at = tl.arange(0, W)
    # With a count of 0 there is no last element, and the condition says so: this one stays a finding.
    tl.store(y + at, tl.where(at < count, tl.load(x + count - 1), 0.0))
