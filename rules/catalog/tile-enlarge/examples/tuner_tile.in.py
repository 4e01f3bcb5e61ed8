import torch
import triton
import triton.language as tl


@triton.autotune(
    configs=[
        triton.Config({'BD': BD}, num_warps=num_warps)  # every GPU has its own
        for BD in [32, 64, 128]
        for num_warps in [2, 4]
    ],
    key=['D'],
)
@triton.jit
def double(x, y, D: tl.constexpr, BD: tl.constexpr):
    o_d = tl.program_id(0) * BD + tl.arange(0, BD)
    tl.store(y + o_d, 2 * tl.load(x + o_d, mask=o_d < D), mask=o_d < D)


def launch(x):
    y = torch.empty_like(x)
    D = x.numel()

    def grid(meta):
        return (triton.cdiv(D, meta['BD']),)

    double[grid](x, y, D=D)
    return y
