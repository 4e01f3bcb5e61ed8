"""Keyword-only parameters stay so in the task function, behind a plain one that has a default."""

import triton
import triton.language as tl
from tritonport_runtime import on_vector_cores


@triton.jit(do_not_specialize=["grid_0"])
def fill(dst, value=4, *, scale, B: tl.constexpr = 2, grid_0):
    tasks = grid_0
    core, cores = tl.program_id(0), tl.num_programs(0)
    # The contiguous share of this core; shares differ by at most one task.
    start = core * (tasks // cores) + tl.minimum(core, tasks % cores)
    for i in range((tasks - core + cores - 1) // cores):
        task = start + i
        fill_task(task, dst, value, scale=scale, B=B)


# One task of the kernel above: upstream's body, with its program ids as parameters.
@triton.jit
def fill_task(pid_0, dst, value=4, *, scale, B: tl.constexpr = 2):
    tl.store(dst + pid_0, value * scale + B)


def run(dst):
    on_vector_cores(fill)[(dst.numel(),)](dst, scale=3)
