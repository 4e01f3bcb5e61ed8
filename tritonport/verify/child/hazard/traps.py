"""The traps: replaced members of the interpreter that look at every access, dot and integer operation.

Installed once per process; they look only while a launch is monitored. They change no value, except that
lanes which would touch memory outside their argument are left out, and that a dot accumulator of a loop that
never ran is NaN.
"""

from __future__ import annotations

import importlib
from collections.abc import Callable
from typing import Any

import numpy as np
import numpy.typing as npt

from tritonport.verify.child.hazard.memory import UNWRITTEN, Unchanged
from tritonport.verify.child.hazard.monitor import Monitor
from tritonport.verify.child.hazard.sizes import FLOATS, WRAPS
from tritonport.verify.child.shims.untyped import interp, tl

Array = npt.NDArray[Any]
Method = Callable[..., Any]


def install() -> None:
    """After the shims, before any kernel is imported."""
    from tritonport.verify.child.hazard import loops

    _memory()
    _origins()
    _tasks()
    _dots()
    _integers()
    _floats()
    _block_offsets()
    loops.install()


def _wrap(owner: Any, name: str, make: Callable[[Method], Method]) -> None:
    if hasattr(owner, name):
        setattr(owner, name, make(getattr(owner, name)))


def _memory() -> None:
    builder = interp.InterpreterBuilder

    def load(stock: Method) -> Method:
        def call(self: Any, ptrs: Any, mask: Any, *rest: Any, **kw: Any) -> Any:
            monitor = Monitor.current
            if monitor is None:
                return stock(self, ptrs, mask, *rest, **kw)
            lanes = _lanes(ptrs, mask)
            safe = _checked(monitor, "load", ptrs, lanes)
            result = stock(self, ptrs, interp.TensorHandle(safe, tl.int1), *rest, **kw)
            _check_written(monitor, result, safe)
            return result

        return call

    def store(stock: Method) -> Method:
        def call(self: Any, ptrs: Any, value: Any, mask: Any, *rest: Any, **kw: Any) -> Any:
            monitor = Monitor.current
            if monitor is not None:
                safe = _checked(
                    monitor, "store", ptrs, _lanes(ptrs, mask), lambda lanes: _unchanged(ptrs, value, lanes)
                )
                mask = interp.TensorHandle(safe, tl.int1)
                if stray := _nan_lanes(value, safe):
                    monitor.stores_nan(stray)
            return stock(self, ptrs, value, mask, *rest, **kw)

        return call

    def atomic(stock: Method) -> Method:
        def call(self: Any, op: Any, ptr: Any, value: Any, mask: Any, *rest: Any, **kw: Any) -> Any:
            monitor = Monitor.current
            if monitor is not None:
                safe = _checked(monitor, "atomic", ptr, _lanes(ptr, mask))
                mask = interp.TensorHandle(safe, tl.int1)
            return stock(self, op, ptr, value, mask, *rest, **kw)

        return call

    _wrap(builder, "create_masked_load", load)
    _wrap(builder, "create_masked_store", store)
    _wrap(builder, "create_atomic_rmw", atomic)


def _lanes(ptrs: Any, mask: Any) -> Array:
    """Block pointers hand their mask over as a bare array; a product of compares may be one of integers."""
    data = mask if isinstance(mask, np.ndarray) else mask.data
    return np.ascontiguousarray(np.broadcast_to(data, np.shape(ptrs.data)) != 0)


def _checked(
    monitor: Monitor, kind: str, ptrs: Any, mask: Array, unchanged: Unchanged | None = None
) -> Array:
    if monitor.memory is None:
        return mask
    size = max(1, ptrs.get_element_ty().primitive_bitwidth // 8)
    safe = monitor.memory.access(
        kind,
        ptrs.data,
        mask,
        size,
        task=monitor.task,
        origin=monitor.region_of(ptrs),
        unchanged=unchanged,
    )
    return np.ascontiguousarray(safe)


def _unchanged(ptrs: Any, value: Any, lanes: Array) -> Array:
    """Which lanes of a store write the bits that stand in memory."""
    data = np.ascontiguousarray(np.broadcast_to(value.data, np.shape(ptrs.data)))
    now = interp._interpreter.load(ptrs.data, np.ascontiguousarray(lanes), np.zeros_like(data), data.dtype)
    bits = f"u{data.dtype.itemsize}"
    return (now.view(bits) == data.view(bits)) & lanes


def _check_written(monitor: Monitor, result: Any, mask: Array) -> None:
    """Fresh memory holds NaN, so a NaN that is loaded comes from memory that nothing wrote, or was passed
    on."""
    if count := _nan_lanes(result, mask):
        monitor.note(UNWRITTEN, "loads NaN", count=count)


def _nan_lanes(handle: Any, mask: Array) -> int:
    data = np.asarray(handle.data)
    if data.dtype.kind == "f":
        bad = np.isnan(data)
    elif handle.dtype.scalar == tl.bfloat16:
        bad = (data & np.uint16(0x7FFF)) > np.uint16(0x7F80)
    else:
        return 0
    return int((bad & mask).sum()) if bad.any() else 0


def _origins() -> None:
    """A pointer remembers the argument that it was computed from, however far it was moved."""
    builder = interp.InterpreterBuilder

    def keep(position: int) -> Callable[[Method], Method]:
        def make(stock: Method) -> Method:
            def call(self: Any, *args: Any, **kw: Any) -> Any:
                result = stock(self, *args, **kw)
                monitor = Monitor.current
                if monitor is not None and len(args) > position and args[position].dtype.scalar.is_ptr():
                    result.origin = monitor.region_of(args[position])
                return result

            return call

        return make

    def addptr(stock: Method) -> Method:
        def call(self: Any, ptr: Any, offset: Any) -> Any:
            result = stock(self, ptr, offset)
            monitor = Monitor.current
            if monitor is not None:
                result.origin = monitor.region_of(ptr)
                _check_width(monitor, ptr, offset, result.origin)
            return result

        return call

    for name in (
        "create_broadcast",
        "create_expand_dims",
        "create_reshape",
        "create_trans",
        "create_bitcast",
    ):
        _wrap(builder, name, keep(0))
    _wrap(builder, "create_splat", keep(1))
    _wrap(builder, "create_addptr", addptr)

    def materialize(stock: Method) -> Method:
        def call(self: Any, *args: Any) -> Any:
            pointers, masks = stock(self, *args)
            if Monitor.current is not None:
                pointers.origin = Monitor.current.region_of(self.base)
            return pointers, masks

        return call

    _wrap(interp.BlockPointerHandle, "materialize_pointers", materialize)


_INT32_MAX = 2**31 - 1


def _check_width(monitor: Monitor, ptr: Any, offset: Any, origin: Any) -> None:
    """Where tiles of 32-bit offsets start within their argument."""
    if origin is None or offset.dtype.scalar != tl.int32:
        return
    data = np.asarray(offset.data)
    if data.size:
        size = max(1, ptr.get_element_ty().primitive_bitwidth // 8)
        elements = (origin.stop - origin.start) // size
        monitor.origin(WRAPS, origin.names, int(data.min()), elements, data.shape)


def _floats() -> None:
    """Consecutive integers that become fp32: row numbers."""

    def make(stock: Method) -> Method:
        def call(self: Any, src: Any, dst_type: Any) -> Any:
            monitor = Monitor.current
            data = np.asarray(src.data)
            if monitor is not None and data.size > 1 and dst_type.scalar == tl.float32:
                rows = data.reshape(-1)
                if rows[1] - rows[0] == 1 and rows[-1] - rows[0] == rows.size - 1:
                    monitor.origin(FLOATS, "", int(rows[0]), rows.size)
            return stock(self, src, dst_type)

        return call

    _wrap(interp.InterpreterBuilder, "create_si_to_fp", make)


def _block_offsets() -> None:
    """Block pointers take 32-bit offsets. Triton refuses others, without naming kernel or line."""
    semantic = importlib.import_module("triton.language.semantic")

    def make(stock: Method) -> Method:
        def call(*args: Any, **kw: Any) -> Any:
            monitor = Monitor.current
            wide = kw.get("require_i64", True)
            if monitor is not None and not wide:
                offsets = next(a for a in reversed(args) if isinstance(a, (list, tuple)))
                for offset in offsets:
                    if getattr(offset, "dtype", None) in (tl.int64, tl.uint64):
                        monitor.note("block-pointer offset in int64", "cast it to int32")
            return stock(*args, **kw)

        return call

    _wrap(getattr(semantic, "TritonSemantic", semantic), "_convert_to_ir_values", make)


def _tasks() -> None:
    builder = interp.InterpreterBuilder

    def program(stock: Method) -> Method:
        def call(self: Any, x: int, y: int, z: int) -> Any:
            if Monitor.current is not None:
                Monitor.current.enter_program((x, y, z))
            return stock(self, x, y, z)

        return call

    def device(stock: Method) -> Method:
        def call(self: Any, *args: Any, **kw: Any) -> Any:
            monitor = Monitor.current
            if monitor is None or not monitor.enter_call(self, args):
                return stock(self, *args, **kw)
            try:
                return stock(self, *args, **kw)
            finally:
                monitor.leave_call()

        return call

    _wrap(builder, "set_grid_idx", program)
    _wrap(interp.InterpretedFunction, "__call__", device)


def _dots() -> None:
    """`tl.dot` may overwrite its left operand on Ascend (FLA pull request 1113), so no later statement may
    read it.

    The tile is marked when the dot is done; a marked tile that is read again is a finding. The value stays:
    what is to be found is the read, not its consequences.
    """

    def make(stock: Method) -> Method:
        def call(self: Any, a: Any, *rest: Any) -> Any:
            result = stock(self, a, *rest)
            if Monitor.current is not None:
                a.dot = Monitor.current.where()
            return result

        return call

    _wrap(interp.InterpreterBuilder, "create_dot", make)
    interp.TensorHandle.data = property(_read_data, _write_data)


def _read_data(self: Any) -> Any:
    dot = self.__dict__.get("dot")
    if dot is not None and Monitor.current is not None:
        Monitor.current.note("left operand of tl.dot read again", f"the dot is at line {dot[1]}")
    return self.__dict__["data"]


def _write_data(self: Any, value: Any) -> None:
    self.__dict__["data"] = value


def _integers() -> None:
    """int32 arithmetic that wraps: an index that a larger type would have held."""
    for name, exact in (("create_add", np.add), ("create_mul", np.multiply), ("create_sub", np.subtract)):
        _wrap(interp.InterpreterBuilder, name, _exactly(exact))


def _exactly(exact: Any) -> Callable[[Method], Method]:
    def make(stock: Method) -> Method:
        def call(self: Any, lhs: Any, rhs: Any) -> Any:
            result = stock(self, lhs, rhs)
            monitor = Monitor.current
            if monitor is not None and result.dtype.scalar == tl.int32:
                wide = exact(np.asarray(lhs.data, np.int64), np.asarray(rhs.data, np.int64))
                count = int((np.abs(wide) > _INT32_MAX).sum())
                if count:
                    monitor.note("int32 arithmetic wraps", f"up to {int(np.abs(wide).max())}", count=count)
            return result

        return call

    return make
