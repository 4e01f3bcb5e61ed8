import triton
import triton.language as tl

EXACT = True
INNER = tl.constexpr("tf32")
OUTER = tl.constexpr("ieee" if EXACT else "tf32")


@triton.jit
def product(b_a, b_b, PRECISION: tl.constexpr):
    return tl.dot(b_a, b_b, input_precision=INNER) + tl.dot(b_b, b_a, input_precision=OUTER)


@triton.autotune(
    configs=[
        triton.Config({"PRECISION": p})  # tried in turn
        for p in ["tf32", "ieee"]
    ],
    key=["N"],
)
@triton.jit
def tuned(x, y, N: tl.constexpr, PRECISION: tl.constexpr):
    o_n = tl.arange(0, N)
    b_x = tl.load(x + o_n[:, None] * N + o_n[None, :])
    tl.store(y + o_n[:, None] * N + o_n[None, :], tl.dot(b_x, b_x, input_precision=PRECISION))


@triton.jit
def passed(x, y, N: tl.constexpr, PRECISION: tl.constexpr):
    o_n = tl.arange(0, N)
    b_x = tl.load(x + o_n[:, None] * N + o_n[None, :])
    b_y = product(b_x, b_x, PRECISION) + tl.dot(b_x, b_x, input_precision=PRECISION)
    tl.store(y + o_n[:, None] * N + o_n[None, :], b_y)


def run(x, y, N):
    passed[(1,)](x, y, N=N, PRECISION="tf32")
    passed[(1,)](x, y, N=N, PRECISION="ieee")


def tune(x, y, N):
    tuned[(1,)](x, y, N=N)
