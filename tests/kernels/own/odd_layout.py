"""Surface that a careless rewrite loses: comments everywhere, two statements a line, brackets, a docstring."""

import torch
import triton  # the compiler
import triton.language as tl

META = {"covers": ("comments", "semicolons", "docstring"), "outcome": {"ramp": "converted"}}


# Above the decorator.
@triton.jit  # beside the decorator
def ramp(
    # before the first parameter
    dst,  # where to
    count,  # how many

    SPAN: tl.constexpr,
    # after the last parameter
):
    """Writes 0, 1, 2, ...

    The second paragraph of the docstring mentions tl.program_id(0) and `return`.
    """
    # before the first statement
    job = (tl.program_id(0)); at = (job * SPAN  # inside an expression
                                    + tl.arange(0, SPAN))

    if (job == 0): tl.store(dst + count, 7.0)  # a body on the same line
    tl.store(
        dst + at,
        at.to(tl.float32),  # the value

        mask=(at < count),
    )  # after the store
    # the last line of the kernel


# Below the kernel.
def make_inputs(device):
    return {"count": 21, "device": device}


def launch(count, device):
    dst = torch.full((count + 1,), float("nan"), device=device)
    # before the launch
    ramp[  # in the brackets
        (triton.cdiv(count, 8),)  # the grid
    ](
        dst,  # first
        count,
        # before the tile
        SPAN=8,
    )  # after the launch
    return dst


def reference(count, device):
    return torch.cat([torch.arange(count, device=device).float(), torch.full((1,), 7.0, device=device)])
