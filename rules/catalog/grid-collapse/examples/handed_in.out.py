import triton
import triton.language as tl
from tritonport_runtime import on_vector_cores


@triton.jit(do_not_specialize=["grid_0", "grid_1", "grid_2"])
def double(x, SPAN: tl.constexpr, grid_0, grid_1, grid_2):
    tasks = grid_0 * grid_1 * grid_2
    core, cores = tl.program_id(0), tl.num_programs(0)
    # The contiguous share of this core; shares differ by at most one task.
    start = core * (tasks // cores) + tl.minimum(core, tasks % cores)
    for i in range((tasks - core + cores - 1) // cores):
        task = start + i
        double_task(task % grid_0, x, SPAN)


# One task of the kernel above: upstream's body, with its program ids as parameters.
@triton.jit
def double_task(pid_0, x, SPAN: tl.constexpr):
    o = pid_0 * SPAN + tl.arange(0, SPAN)
    tl.store(x + o, tl.load(x + o) * 2)


def run(x, grid):
    on_vector_cores(double, axes=("grid_0", "grid_1", "grid_2"))[grid](x, SPAN=16)  # whatever the caller chose
