"""bf16 in the interpreter. NumPy has no bf16, so Triton keeps the bit patterns in uint16 and, unpatched,
truncates casts and adds, multiplies and contracts the patterns as integers: silent garbage on both sides of a
comparison.

Here a bf16 value is widened to fp32 (exact), computed on, and rounded once to the nearest even bf16. That is
what a GPU does for casts (`cvt.rn.bf16.f32`) and for `tl.dot` with an fp32 accumulator.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import numpy.typing as npt

from tritonport.verify.child.shims.untyped import interp, tl

Array = npt.NDArray[Any]

_BINARY = (
    *("fadd", "fmul", "fdiv", "frem", "fsub", "precise_divf", "approx_divf"),
    *("minimumf", "minnumf", "maximumf", "maxnumf"),
)
_COMPARE = tuple(f"fcmp{order}{what}" for order in "OU" for what in ("LT", "GT", "LE", "GE", "EQ", "NE"))
_UNARY = (
    *("cos", "exp", "exp2", "floor", "ceil", "log", "log2", "precise_sqrt", "sqrt", "sin", "rsqrt", "erf"),
    *("fneg", "fabs"),
)
_FLOATS = (tl.bfloat16, tl.float16, tl.float32, tl.float64)


def to_fp32(bits: Array) -> Array:
    """bf16 bit patterns (uint16) as fp32 values: exact."""
    wide = np.ascontiguousarray(bits).astype(np.uint32) << np.uint32(16)
    return wide.view(np.float32).reshape(np.shape(bits))


def from_fp32(values: Array) -> Array:
    """fp32 values as bf16 bit patterns, rounded to nearest, ties to even; NaN stays NaN."""
    x = np.ascontiguousarray(values, dtype=np.float32)
    bits = x.view(np.uint32)
    with np.errstate(over="ignore"):
        half = np.uint32(0x7FFF) + ((bits >> np.uint32(16)) & np.uint32(1))
        rounded = (bits + half) >> np.uint32(16)
    quiet = (bits >> np.uint32(16)) | np.uint32(0x40)
    return np.where(np.isnan(x), quiet, rounded).astype(np.uint16).reshape(np.shape(values))


def _is_bf16(handle: Any) -> bool:
    return handle.dtype.scalar == tl.bfloat16


def _up(handle: Any) -> Any:
    return interp.TensorHandle(to_fp32(handle.data), tl.float32) if _is_bf16(handle) else handle


def _down(handle: Any) -> Any:
    return interp.TensorHandle(from_fp32(handle.data), tl.bfloat16)


def constants() -> None:
    """`x + 1.0` with bf16 x asks for a bf16 constant, which the interpreter cannot make."""

    def get_bf16(_self: Any, value: float) -> Any:
        return _down(interp.TensorHandle(np.array([value], dtype=np.float32), tl.float32))

    interp.InterpreterBuilder.get_bf16 = get_bf16


def casts() -> None:
    """Casts from and to bf16; the stock cast to bf16 drops the low bits."""
    builder = interp.InterpreterBuilder
    stock_cast, stock_fp_to_fp = builder.cast_impl, builder.create_fp_to_fp

    def cast_impl(self: Any, src: Any, dst_type: Any) -> Any:
        source, target = src.dtype.scalar, dst_type.scalar
        if source == tl.bfloat16:
            if target == tl.bfloat16:
                return src
            wide = _up(src)
            return wide if target == tl.float32 else stock_cast(self, wide, dst_type)
        if target == tl.bfloat16:
            return _down(interp.TensorHandle(src.data.astype(np.float32), tl.float32))
        return stock_cast(self, src, dst_type)

    def create_fp_to_fp(self: Any, src: Any, dst_type: Any, rounding_mode: Any) -> Any:
        nearest = rounding_mode is None or str(rounding_mode).endswith("RTNE")
        if nearest and src.dtype.scalar in _FLOATS and dst_type.scalar in _FLOATS:
            return cast_impl(self, src, dst_type)
        return stock_fp_to_fp(self, src, dst_type, rounding_mode)

    builder.cast_impl, builder.create_fp_to_fp = cast_impl, create_fp_to_fp


def arithmetic() -> None:
    """Arithmetic, comparison and elementary functions of bf16 operands, rounded once to bf16."""
    for names, wrap in ((_BINARY, _binary), (_COMPARE, _compare), (_UNARY, _unary)):
        for name in (f"create_{n}" for n in names):
            stock = getattr(interp.InterpreterBuilder, name, None)
            if stock is not None:
                setattr(interp.InterpreterBuilder, name, wrap(stock))


def _binary(stock: Callable[..., Any]) -> Callable[..., Any]:
    def op(self: Any, lhs: Any, rhs: Any) -> Any:
        if _is_bf16(lhs) or _is_bf16(rhs):
            return _down(stock(self, _up(lhs), _up(rhs)))
        return stock(self, lhs, rhs)

    return op


def _compare(stock: Callable[..., Any]) -> Callable[..., Any]:
    def op(self: Any, lhs: Any, rhs: Any) -> Any:
        return stock(self, _up(lhs), _up(rhs))

    return op


def _unary(stock: Callable[..., Any]) -> Callable[..., Any]:
    def op(self: Any, arg: Any) -> Any:
        return _down(stock(self, _up(arg))) if _is_bf16(arg) else stock(self, arg)

    return op


def contractions() -> None:
    """`tl.dot`, `tl.fma` and clamp of bf16. fp16 operands are widened too: NumPy's fp16 product in an fp32
    accumulator gives the same values twenty times slower."""
    builder = interp.InterpreterBuilder
    stock_dot, stock_fma, stock_clamp = builder.create_dot, builder.create_fma, builder.create_clampf

    def wide(handle: Any, accumulator: Any) -> Any:
        if handle.data.dtype == np.float16 and accumulator.data.dtype == np.float32:
            return interp.TensorHandle(handle.data.astype(np.float32), tl.float32)
        return _up(handle)

    def create_dot(self: Any, a: Any, b: Any, d: Any, *rest: Any) -> Any:
        return stock_dot(self, wide(a, d), wide(b, d), d, *rest)

    def create_fma(self: Any, x: Any, y: Any, z: Any) -> Any:
        if _is_bf16(z):
            return _down(stock_fma(self, _up(x), _up(y), _up(z)))
        return stock_fma(self, x, y, z)

    def create_clampf(self: Any, arg: Any, low: Any, high: Any, *rest: Any) -> Any:
        if _is_bf16(arg):
            return _down(stock_clamp(self, _up(arg), _up(low), _up(high), *rest))
        return stock_clamp(self, arg, low, high, *rest)

    builder.create_dot, builder.create_fma, builder.create_clampf = create_dot, create_fma, create_clampf


def reductions() -> None:
    """`tl.sum`, `tl.max`, `tl.cumsum` of bf16: from Triton 3.3 on they stay bf16, and the stock interpreter
    adds bit patterns. Reduced in fp32 and rounded once."""
    base = interp.ReduceOps.__mro__[1]
    stock = base.apply

    def apply(self: Any, operand: Any) -> Any:
        tensors = operand if isinstance(operand, tuple) else (operand,)
        narrow = [t.dtype == tl.bfloat16 for t in tensors]
        if not any(narrow):
            return stock(self, operand)
        wide = tuple(_convert(t, tl.float32) if n else t for t, n in zip(tensors, narrow, strict=True))
        result = stock(self, wide if isinstance(operand, tuple) else wide[0])
        if not isinstance(result, (tuple, list)):  # Triton 3.2 unpacks a single result
            return _narrowed(result, narrow[0])
        return tuple(_narrowed(t, n) for t, n in zip(result, narrow, strict=False))

    base.apply = apply


def _narrowed(tensor: Any, narrow: bool) -> Any:
    return _convert(tensor, tl.bfloat16) if narrow and tensor.dtype == tl.float32 else tensor


def _convert(tensor: Any, dtype: Any) -> Any:
    data = to_fp32(tensor.handle.data) if dtype == tl.float32 else from_fp32(tensor.handle.data)
    kind = tl.block_type(dtype, list(tensor.shape)) if tensor.type.is_block() else dtype
    return tl.core.tensor(interp.TensorHandle(data, dtype), kind)


SHIMS = (constants, casts, arithmetic, contractions, reductions)
