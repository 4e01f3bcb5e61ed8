import triton
import triton.language as tl


@triton.autotune(configs=[triton.Config({"B": 16}, num_warps=4), triton.Config({"B": 32}, 8, 3)], key=["n"])
@triton.jit
def double(x, n, B: tl.constexpr):
    o = tl.program_id(0) * B + tl.arange(0, B)
    tl.store(x + o, tl.load(x + o, mask=o < n) * 2, mask=o < n)


def run(x, n):
    double[lambda meta: (triton.cdiv(n, meta["B"]),)](
        x,
        n,
        num_stages=2,  # pipelined
    )
