import triton
import triton.language as tl


@triton.jit
def other_branches(x, y, T, N: tl.constexpr, TWICE: tl.constexpr):
    o = tl.arange(0, N)
    b = tl.load(x + o[:, None] * N + o[None, :])
    if T > N:
        # What was loaded is the vector unit's all along.
        b *= 2.0
    p = tl.dot(b, b)
    if T > 2 * N:
        # A product of the branch's own stays with the cube unit.
        p = tl.dot(b, b, p)
    for i in range(0, 4):
        if i > T:
            # The loop's own sum, which it adds to behind the branch.
            p *= 0.5
        p = tl.dot(b, b, p)
    if TWICE:
        # Decided when the kernel compiles.
        p *= 2.0
    tl.store(y + o[:, None] * N + o[None, :], p)


def run(x, y, T, N):
    other_branches[(1,)](x, y, T, N=N, TWICE=True)
