import triton
import triton.language as tl
from tritonport_runtime import on_vector_cores


@triton.jit(do_not_specialize=["grid_0", "grid_1"])
def scale(x, y, n, BLOCK: tl.constexpr, grid_0, grid_1):
    tasks = grid_0 * grid_1
    core, cores = tl.program_id(0), tl.num_programs(0)
    # The contiguous share of this core; shares differ by at most one task.
    start = core * (tasks // cores) + tl.minimum(core, tasks % cores)
    for i in range((tasks - core + cores - 1) // cores):
        task = start + i
        scale_task(task % grid_0, task // grid_0, x, y, n, BLOCK)


# One task of the kernel above: upstream's body, with its program ids as parameters.
@triton.jit
def scale_task(pid_0, pid_1, x, y, n, BLOCK: tl.constexpr):
    row = pid_0
    o = pid_1 * BLOCK + tl.arange(0, BLOCK)  # columns
    m = o < n
    tl.store(y + row * n + o, tl.load(x + row * n + o, mask=m) * 2, mask=m)


def run(x, y, rows, n):
    on_vector_cores(scale)[(rows, triton.cdiv(n, 16))](x, y, n, BLOCK=16)
