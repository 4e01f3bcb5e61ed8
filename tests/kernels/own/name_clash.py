"""Names that a rewrite may want for itself are taken: parameters, helpers, host functions."""

import torch
import triton
import triton.language as tl

META = {"covers": ("taken names",), "outcome": {"core": "converted"}}


@triton.jit
def core_task(value):
    return value + 1.0


@triton.jit
def core(tasks, task, start, i, cores, grid_0, pid_0, pid_1, SPAN: tl.constexpr):
    stop, skip = tl.program_id(0), tl.program_id(1)
    at = (stop * start + skip) * SPAN + tl.arange(0, SPAN)
    tl.store(task + at, core_task(tl.load(tasks + at)) + i + cores + grid_0 + pid_0 + pid_1)


def on_vector_cores(value):
    return value * 2.0


def unless_empty(value):
    return value - 1.0


is_accelerated = 3.0


class Sizes:
    multi_processor_count = 3


def on_device(src, off_npu=0.0):
    """The names of more helpers as a variable, a parameter, and what an exception and a pattern bind."""
    sizes = Sizes()
    sizes.multi_processor_count = 1
    sizes.multi_processor_count += 1
    sizes.is_cuda, (sizes.multi_processor_count, *rest) = src.is_cuda, (3, 2)
    try:
        raise KeyError
    except KeyError as device_name:
        raised = float(device_name.args == () and src.device.type != "cuda")
    match rest:
        case [*processor_count]:
            width = processor_count[0]
    dst = torch.full_like(src, float("nan"))
    core[(sizes.multi_processor_count, width)](src, dst, 2, 1, 2, 3, 4, 5, SPAN=8)
    return dst * (is_accelerated + off_npu - raised - 1.0)


def make_inputs(device):
    return {"src": torch.randn(3, 2, 8, device=device)}


def launch(src):
    dst = torch.full_like(src, float("nan"))
    core[(3, 2)](src, dst, 2, 1, 2, 3, 4, 5, SPAN=8)
    return unless_empty(on_vector_cores(dst)), on_device(src)


def reference(src):
    raised = src + 1.0 + 1 + 2 + 3 + 4 + 5
    return raised * 2.0 - 1.0, raised
