"""Run-time helpers of kernels that tritonport migrated. Self-contained; emitted beside the migrated modules.

Licence: Apache-2.0 (tritonport). Nothing here is asked of a device when the module is imported.
"""

from __future__ import annotations

import copy
import functools
import inspect
import math
import os
from collections.abc import Callable, Mapping
from typing import Any

import torch

MAX_TASKS = 2**31 - 1
"""Task numbers are 32-bit in the kernels."""


class _NoTasks(Exception):
    """Raised inside a grid function to leave a launch out."""


@functools.cache
def on_npu() -> bool:
    """Whether an Ascend NPU is present and usable."""
    npu = _npu()
    return npu is not None and bool(npu.is_available())


def _npu() -> Any:
    """torch.npu, which torch_npu puts there, or None."""
    return getattr(torch, "npu", None)


def core_count(kind: str) -> int:
    """Physical cores of the current device: `num_aicore` (with the cube unit) or `num_vectorcore`.

    TRITONPORT_CORES forces a number, for tests. Off the NPU: multiprocessors of the GPU, else processors of the host.
    """
    forced = os.environ.get("TRITONPORT_CORES")
    if forced is not None:
        if not forced.isdecimal() or int(forced) < 1:
            raise ValueError(f"TRITONPORT_CORES must be a positive integer, not {forced!r}")
        return int(forced)
    if on_npu():
        return _device_cores(kind, "npu", _npu().current_device())
    if torch.cuda.is_available():
        return _device_cores(kind, "cuda", torch.cuda.current_device())
    return os.cpu_count() or 1


@functools.cache
def _device_cores(kind: str, device_type: str, index: int) -> int:
    if device_type == "cuda":
        return int(torch.cuda.get_device_properties(index).multi_processor_count)
    from triton.runtime import driver

    active: Any = driver.active
    return int(active.utils.get_device_properties(index)[kind])


def _product(sizes: Any) -> int:
    return math.prod(sizes)


class _Launcher:
    """Stands for a kernel where it is launched: `launcher[grid](...)`."""

    def __init__(self, kernel: Any) -> None:
        self.kernel = kernel

    def __getitem__(self, grid: Any) -> Callable[..., Any]:
        raise NotImplementedError


class _OnCores(_Launcher):
    """Starts at most one program per core and hands the kernel the sizes of its logical grid.

    axes: the kernel's parameters for the sizes of a grid that is read here, whatever it is. The kernel is a plain
    jit function then, so that the arguments of the launch are all that a grid function may ask for.
    """

    def __init__(self, kernel: Any, kind: str, axes: tuple[str, ...], sizes: Mapping[str, int]) -> None:
        super().__init__(kernel)
        # A grid may hold truth values; a kernel counts with numbers.
        self.kind, self.axes, self.sizes = kind, axes, {name: int(size) for name, size in sizes.items()}

    def __getitem__(self, grid: Any) -> Callable[..., Any]:
        if self.axes:
            return functools.partial(self._read, grid)
        return self._start(grid, self.sizes)

    def _read(self, grid: Any, *args: Any, **options: Any) -> Any:
        if callable(grid):
            signature = _signature(self.kernel.fn)
            given = {name: value for name, value in options.items() if name in signature.parameters}
            bound = signature.bind_partial(*args, **given)
            bound.apply_defaults()
            grid = grid({**options, **bound.arguments})
        shape = [*map(int, grid), *(1 for _ in self.axes)]
        return self._start(tuple(grid), dict(zip(self.axes, shape, strict=False)))(*args, **options)

    def _start(self, grid: Any, sizes: Mapping[str, int]) -> Callable[..., Any]:
        if not callable(grid) and not sizes:
            sizes = {f"grid_{axis}": int(size) for axis, size in enumerate(grid)}

        def programs(meta: Any) -> tuple[int]:
            tasks = _product(grid(meta) if callable(grid) else grid)
            if tasks > MAX_TASKS:
                raise ValueError(f"a grid of {tasks} programs; migrated kernels take at most {MAX_TASKS}")
            return (min(tasks, core_count(self.kind)),)

        return functools.partial(self.kernel[programs], **sizes)


@functools.cache
def _signature(function: Callable[..., Any]) -> inspect.Signature:
    return inspect.signature(function)


class _UnlessEmpty(_Launcher):
    """Leaves a launch out when its grid has no program."""

    def __getitem__(self, grid: Any) -> Callable[..., Any]:
        if not callable(grid):
            return self.kernel[grid] if _product(grid) else _nothing

        def checked(meta: Any) -> Any:
            sizes = grid(meta)
            if not _product(sizes):
                raise _NoTasks
            return sizes

        def launch(*args: Any, **options: Any) -> Any:
            try:
                return self.kernel[checked](*args, **options)
            except _NoTasks:
                return None

        return launch


def _nothing(*_args: Any, **_options: Any) -> None:
    return None


def on_cube_cores(kernel: Any, axes: tuple[str, ...] = (), **sizes: int) -> Any:
    """For kernels with `tl.dot`: one program per AI core at the most."""
    return _OnCores(kernel, "num_aicore", axes, sizes)


def on_vector_cores(kernel: Any, axes: tuple[str, ...] = (), **sizes: int) -> Any:
    """For kernels without `tl.dot`: one program per vector core at the most."""
    return _OnCores(kernel, "num_vectorcore", axes, sizes)


def on_cores(kernel: Any, vector: tuple[Any, ...], axes: tuple[str, ...] = (), **sizes: int) -> Any:
    """For a name that may stand for several kernels: vector cores for those listed, AI cores for the others."""
    is_vector = any(kernel is item for item in vector)
    return _OnCores(kernel, "num_vectorcore" if is_vector else "num_aicore", axes, sizes)


def unless_empty(kernel: Any) -> Any:
    """Leaves launches without any program out; the device aborts on an empty grid."""
    return _UnlessEmpty(kernel)


def gpu_only(**options: Any) -> dict[str, Any]:
    """Launch options that mean nothing on the NPU (num_warps and the like); elsewhere they stay as upstream's."""
    return {} if on_npu() else options


def for_target(question: Callable[[], Any], answer: Any) -> Any:
    """What host code asks about a GPU: the answer that was written down on an NPU, else the GPU's own."""
    return answer if on_npu() else question()


def dot_precision(value: Any) -> Any:
    """input_precision or allow_tf32 of `tl.dot`: on an NPU ieee and False for what it does not have (tf32, tf32x3)."""
    if not on_npu() or value is None:
        return value
    if isinstance(value, str):
        return value if value.lower() in ("ieee", "hf32") else "ieee"
    return False


def npu_only(**options: Any) -> dict[str, Any]:
    """Launch options of the Ascend compiler; nothing elsewhere."""
    return options if on_npu() else {}


def check_assumption(holds: bool, text: str) -> None:
    """Raises where a launch does not keep what was asserted when its kernel was migrated."""
    if not holds:
        raise ValueError(f"this kernel was migrated for sizes with {text}; migrate again without --assume")


def tile(size: int, limit: int, *beside: tuple[int, int]) -> int:
    """The tile of an axis of that size: a power of two from 16 on that covers it, at most limit.

    beside: (value, value at which the limit was measured) of what else the kernel's tiles grow with; a larger value
    halves the limit as often as the value doubled.
    """
    for value, measured in beside:
        reached = measured
        while reached < value and limit > 16:
            reached, limit = 2 * reached, limit // 2
    return min(max(1 << (max(size, 1) - 1).bit_length(), 16), limit)


def head_first(tensor: Any, heads: int, made: Any = None) -> Any:
    """A tensor of [.., heads] as [heads, rows], contiguous. None stays None; with one head it is the tensor itself.

    made: the copy that a caller has of it already, or None.
    """
    if tensor is None or heads == 1:
        return tensor
    if made is not None and made.shape == (heads, head_rows(tensor, heads)):
        return made
    flat, rows = _in_memory(tensor), head_rows(tensor, heads)
    if flat.numel() < rows * heads:
        flat = torch.cat([flat, flat.new_zeros(rows * heads - flat.numel())])
    return flat.view(rows, heads).t().contiguous()


def head_rows(tensor: Any, heads: int) -> int:
    """Rows of [.., heads] that a kernel may reach from a tensor's first element on, the last one perhaps not whole.

    0 for None.
    """
    return 0 if tensor is None else -(-_reach(tensor) // heads)


def _reach(tensor: Any) -> int:
    """Elements: a kernel counts in memory, and of a view with gaps it may reach all that the memory holds."""
    if tensor.is_contiguous():
        return int(tensor.numel())
    return int(tensor.untyped_storage().nbytes() // tensor.element_size() - tensor.storage_offset())


def _in_memory(tensor: Any) -> Any:
    return tensor.detach().as_strided((_reach(tensor),), (1,))


def head_first_empty(tensor: Any, heads: int) -> Any:
    """Memory of [heads, rows] for what a kernel writes of a tensor of [.., heads]; with one head the tensor itself.

    What lies in the gaps of a view is kept.
    """
    if tensor is None or heads == 1:
        return tensor
    if not tensor.is_contiguous():
        return head_first(tensor, heads)
    return tensor.new_empty(heads, head_rows(tensor, heads))


def check_apart(tensor: Any, *others: Any) -> None:
    """Raises where a tensor whose layout a launch changes shares memory with another argument: of two copies none
    would see what the other gets."""
    for other in others:
        if (
            tensor is not None
            and other is not None
            and tensor.numel()
            and other.numel()
            and _meet(tensor, other)
        ):
            raise ValueError(
                "arguments of a kernel share memory; migrate it with the rule gate-layout disabled"
            )


def _meet(one: Any, other: Any) -> bool:
    """Whether the memory of two tensors overlaps, from their first elements to their last."""
    ends = [(t, sum((n - 1) * s for n, s in zip(t.shape, t.stride(), strict=True)) + 1) for t in (one, other)]
    spans = [(t.data_ptr(), t.data_ptr() + n * t.element_size()) for t, n in ends]
    return one.device == other.device and spans[0][0] < spans[1][1] and spans[1][0] < spans[0][1]


def copy_back(tensor: Any, written: Any) -> None:
    """Fills a tensor of [.., heads] from what a kernel wrote as [heads, rows]."""
    if written is not tensor:
        flat = _in_memory(tensor)
        flat.copy_(written.t().reshape(-1)[: flat.numel()])


def shared_head_first(tensor: Any, made: Any = None) -> Any:
    """The head-first copy of a tensor whose last axis are heads, for several callees that check it by its shape.

    None where there is nothing to copy; the callees make their own then.
    """
    if made is not None or not isinstance(tensor, torch.Tensor) or not tensor.dim() or not tensor.numel():
        return made
    return head_first(tensor, tensor.shape[-1]) if tensor.is_contiguous() else None


def without_tiles(configs: Any, *names: str) -> list[Any]:
    """Configurations of a tuner without these keys, each once: the tiles are chosen where the kernel is declared."""
    kept: dict[str, Any] = {}
    for config in configs:
        bare = copy.copy(config)
        bare.kwargs = {key: value for key, value in config.kwargs.items() if key not in names}
        members: dict[str, Any] = vars(bare)
        kept.setdefault(repr([(name, members[name]) for name in sorted(members)]), bare)
    return list(kept.values())


def distinct(configs: Any) -> list[Any]:
    """On an NPU the configurations that differ, each once: without GPU options many are the same. Elsewhere all."""
    return without_tiles(configs) if on_npu() else list(configs)


def device_name(name: str) -> str:
    """`cuda` and `cuda:1` as `npu` and `npu:1` on an NPU; any other name, and every name elsewhere, as it is."""
    kind, colon, index = name.partition(":")
    return f"npu{colon}{index}" if kind == "cuda" and on_npu() else name


def accelerator() -> Any:
    """`torch.npu` on an NPU, else `torch.cuda`."""
    return _npu() if on_npu() else torch.cuda


def is_accelerated(tensor: torch.Tensor) -> bool:
    """Whether a tensor lies on the NPU, or on a CUDA device where there is no NPU."""
    return tensor.device.type == ("npu" if on_npu() else "cuda")


def processor_count() -> int:
    """What a grid sized by the GPU's multiprocessors is sized by here: the vector cores of the device."""
    return core_count("num_vectorcore")


def off_npu(decorator: Any) -> Any:
    """A decorator that is applied everywhere but on the NPU."""
    return _as_it_is if on_npu() else decorator


def _as_it_is(function: Any) -> Any:
    return function


def unrouted(decorator: Any) -> Any:
    """A decorator that may call something else instead: it sees the function, so that others can be registered for
    it, but calls go to the function itself."""

    def keep(function: Any) -> Any:
        decorator(function)
        return function

    return keep
