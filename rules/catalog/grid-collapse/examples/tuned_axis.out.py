import triton
import triton.language as tl
from tritonport_runtime import on_vector_cores


@triton.autotune(configs=[triton.Config({"BLOCK": 16}), triton.Config({"BLOCK": 32})], key=["n"])
@triton.jit(do_not_specialize=["grid_batch"])
def square(x, y, n, BLOCK: tl.constexpr, grid_batch):
    tasks = tl.cdiv(n, BLOCK) * grid_batch
    core, cores = tl.program_id(0), tl.num_programs(0)
    # The contiguous share of this core; shares differ by at most one task.
    start = core * (tasks // cores) + tl.minimum(core, tasks % cores)
    for i in range((tasks - core + cores - 1) // cores):
        task = start + i
        square_task(task, x, y, n, BLOCK)


# One task of the kernel above: upstream's body, with its program ids as parameters.
@triton.jit
def square_task(pid_0, x, y, n, BLOCK: tl.constexpr):
    o = pid_0 * BLOCK + tl.arange(0, BLOCK)
    tl.store(y + o, tl.load(x + o, mask=o < n) * 2, mask=o < n)


def run(x, y, n, batch):
    on_vector_cores(square, grid_batch=batch)[lambda meta: (triton.cdiv(n, meta["BLOCK"]) * batch,)](x, y, n)
