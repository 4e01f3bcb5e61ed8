"""What attributes and methods of tiles, pointers and numbers return, as abstract values."""

from __future__ import annotations

from collections.abc import Sequence

from tritonport.facts.algebra.calls import DTypeName, dtype_name
from tritonport.facts.algebra.ops import cast, distribute, dtype_of, transpose
from tritonport.facts.algebra.values import BlockPtr, Const, Ptr, Value


def attribute(value: Value, name: str) -> Value | None:
    """`x.dtype`, `p.dtype.element_ty` and `x.T` of a value; None for any other attribute."""

    def one(item: Value) -> Value:
        if name == "dtype":
            return Const(DTypeName(f"pointer:{item.base}" if isinstance(item, Ptr) else _pointee(item)))
        if name == "T":
            return transpose(item)
        return Const(DTypeName(dtype_name(item).replace("pointer:", "elem:")))

    return distribute(one, value) if name in ("dtype", "element_ty", "T") else None


def _pointee(item: Value) -> str:
    return f"pointer:{item.base.base}" if isinstance(item, BlockPtr) else dtype_of(item)


def _cast_to(item: Value, dtype: Value) -> Value:
    return cast(item, dtype_name(dtype))


def method(receiver: Value, name: str, args: Sequence[Value]) -> Value | None:
    """`x.to(dtype)` and `x.trans()`; None for any other method."""
    if name in ("to", "cast") and args:
        target = args[0]
        return distribute(_cast_to, receiver, target)
    return transpose(receiver) if name == "trans" else None
