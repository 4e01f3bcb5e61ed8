"""Arithmetic, compares, broadcasting and subscripts on abstract values."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from functools import partial

import libcst as cst

from tritonport.facts.algebra import symbols
from tritonport.facts.algebra.poly import ONE, Poly, move_lanes
from tritonport.facts.algebra.values import (
    INTEGERS,
    MISSING,
    Bound,
    CompareOp,
    Const,
    Data,
    Guarded,
    Mask,
    Missing,
    Num,
    Ptr,
    Tup,
    Unknown,
    Value,
    assume,
    broadcast,
    promote,
    shape_of,
)

BINARY: dict[type[cst.CSTNode], str] = {
    cst.Add: "+",
    cst.Subtract: "-",
    cst.Multiply: "*",
    cst.FloorDivide: "//",
    cst.Modulo: "%",
    cst.Divide: "/",
    cst.BitAnd: "&",
    cst.BitOr: "|",
    cst.BitXor: "^",
    cst.LeftShift: "<<",
    cst.RightShift: ">>",
    cst.Power: "**",
    cst.MatrixMultiply: "@",
    cst.AddAssign: "+",
    cst.SubtractAssign: "-",
    cst.MultiplyAssign: "*",
    cst.FloorDivideAssign: "//",
    cst.ModuloAssign: "%",
    cst.DivideAssign: "/",
    cst.BitAndAssign: "&",
    cst.BitOrAssign: "|",
    cst.BitXorAssign: "^",
}
COMPARE: dict[type[cst.CSTNode], CompareOp] = {
    cst.LessThan: "<",
    cst.LessThanEqual: "<=",
    cst.GreaterThan: ">",
    cst.GreaterThanEqual: ">=",
    cst.Equal: "==",
    cst.NotEqual: "!=",
}
_ON_NUMBERS: dict[str, Callable[[Poly, Poly], Poly]] = {
    "+": lambda a, b: a + b,
    "-": lambda a, b: a - b,
    "*": lambda a, b: a * b,
    "//": symbols.floordiv,
    "%": symbols.mod,
    "min": symbols.minimum,
    "max": symbols.maximum,
    "cdiv": symbols.cdiv,
}


def distribute(combine: Callable[..., Value], *values: Value) -> Value:
    """combine(*values), once per alternative of those that stand behind a constexpr test."""
    for value in values:
        if isinstance(value, Guarded):
            return guarded(
                value.test,
                distribute(combine, *(assume(v, value.test, outcome=True) for v in values)),
                distribute(combine, *(assume(v, value.test, outcome=False) for v in values)),
            )
    return combine(*values)


def guarded(test: str, then: Value, other: Value) -> Value:
    return then if then == other else Guarded(test, then, other)


def aligned(value: Num | Ptr, rank: int) -> Poly:
    """The polynomial of a value as part of a tile of that rank: lower ranks align at the last dimension."""
    poly = value.poly if isinstance(value, Num) else value.offset
    shift = rank - len(value.shape)
    return move_lanes(poly, lambda dim: dim + shift) if shift and value.shape else poly


def binary(op: str, left: Value, right: Value) -> Value:
    return distribute(partial(_binary, op), left, right)


def _binary(op: str, left: Value, right: Value) -> Value:
    for value in (left, right):
        if isinstance(value, (Unknown, Missing)):
            return value
    left, right = number(left), number(right)
    if isinstance(left, Num) and isinstance(right, Num):
        return _numbers(op, left, right)
    if isinstance(left, Ptr) and isinstance(right, Num) and op in ("+", "-"):
        return _advance(left, right if op == "+" else negate(right))
    if isinstance(right, Ptr) and isinstance(left, Num) and op == "+":
        return _advance(right, left)
    if op in ("&", "|") and isinstance(left, Mask) and isinstance(right, Mask):
        return conjunction(left, right) if op == "&" else _disjunction(left, right)
    return _data(op, left, right)


def number(value: Value) -> Value:
    """Python integers as numbers; anything else unchanged."""
    if isinstance(value, Const) and isinstance(value.value, (int, bool)):
        return Num(Poly.const(int(value.value)), constexpr=True)
    return value


def _numbers(op: str, left: Num, right: Num) -> Value:
    shape = broadcast(left.shape, right.shape) or ()
    dtype = promote(left.dtype, right.dtype)
    if op not in _ON_NUMBERS:
        return Data(shape, "float32" if op == "/" else dtype) if shape else _other(op, left, right, dtype)
    a, b = aligned(left, len(shape)), aligned(right, len(shape))
    return Num(_ON_NUMBERS[op](a, b), shape, dtype, constexpr=left.constexpr and right.constexpr)


def _other(op: str, left: Num, right: Num, dtype: str) -> Value:
    poly = symbols.operation(op, left.poly, right.poly)
    return Num(poly, (), dtype, constexpr=left.constexpr and right.constexpr)


def _advance(pointer: Ptr, by: Value) -> Value:
    if not isinstance(by, Num):
        return Unknown("a pointer moved by something that is not an index")
    shape = broadcast(pointer.shape, by.shape) or ()
    return Ptr(pointer.base, aligned(pointer, len(shape)) + aligned(by, len(shape)), shape)


def _data(op: str, left: Value, right: Value) -> Value:
    if not (isinstance(left, (Num, Data, Mask, Const)) and isinstance(right, (Num, Data, Mask, Const))):
        return Unknown(f"operands of `{op}` that are no numbers")
    shape = broadcast(_shape(left), _shape(right))
    return Data(shape, promote(dtype_of(left), dtype_of(right)))


def _shape(value: Value) -> tuple[Poly, ...] | None:
    return () if isinstance(value, Const) else shape_of(value)


def dtype_of(value: Value) -> str:
    if isinstance(value, (Num, Data)):
        return value.dtype
    if isinstance(value, Mask):
        return "int1"
    return "weak" if isinstance(value, Const) and isinstance(value.value, (int, float)) else "?"


def conjunction(left: Mask, right: Mask) -> Mask:
    shape = broadcast(left.shape, right.shape)
    constexpr = left.constexpr and right.constexpr
    if left.bounds is None or right.bounds is None or shape is None:
        return Mask(None, shape, constexpr)
    bounds = _aligned_bounds(left, len(shape)) + _aligned_bounds(right, len(shape))
    return Mask(tuple(dict.fromkeys(bounds)), shape, constexpr)


def _disjunction(left: Mask, right: Mask) -> Mask:
    return Mask(None, broadcast(left.shape, right.shape), left.constexpr and right.constexpr)


def _aligned_bounds(mask: Mask, rank: int) -> tuple[Bound, ...]:
    shift = rank - len(mask.shape or ())
    return (
        move_bounds(mask.bounds or (), lambda dim: dim + shift) if shift and mask.shape else mask.bounds or ()
    )


def move_bounds(bounds: Sequence[Bound], dims: Callable[[int], int]) -> tuple[Bound, ...]:
    return tuple(Bound(move_lanes(b.left, dims), b.op, move_lanes(b.right, dims)) for b in bounds)


def compare(op: CompareOp, left: Value, right: Value) -> Value:
    return distribute(partial(_compare, op), left, right)


def _compare(op: CompareOp, left: Value, right: Value) -> Value:
    for value in (left, right):
        if isinstance(value, (Unknown, Missing)):
            return value
    left, right = number(left), number(right)
    shape = broadcast(_shape(left), _shape(right))
    if isinstance(left, Num) and isinstance(right, Num) and shape is not None:
        rank = len(shape)
        bound = Bound(aligned(left, rank), op, aligned(right, rank))
        return Mask((bound,), shape, constexpr=left.constexpr and right.constexpr)
    return Mask(None, shape)


def negate(value: Value) -> Value:
    def one(item: Value) -> Value:
        item = number(item)
        if isinstance(item, Num):
            return Num(-item.poly, item.shape, item.dtype, item.constexpr)
        return (
            item if isinstance(item, (Data, Unknown, Missing)) else Unknown("a minus sign before no number")
        )

    return distribute(one, value)


def invert(value: Value) -> Value:
    def one(item: Value) -> Value:
        if isinstance(item, Mask):
            return Mask(None, item.shape, item.constexpr)
        if isinstance(item, Num):
            return Mask(None, item.shape, item.constexpr)
        return item if isinstance(item, (Data, Unknown, Missing)) else Mask(None, (), constexpr=True)

    return distribute(one, value)


def expand(value: Value, picks: Sequence[str]) -> Value:
    """`x[:, None]` and its like: picks is a sequence of `:` and `None`."""

    def one(item: Value) -> Value:
        shape = shape_of(item)
        if isinstance(item, (Unknown, Missing)):
            return item
        if shape is None:
            return Data(None, dtype_of(item)) if isinstance(item, Data) else Unknown("a subscript of no tile")
        kept = [i for i, pick in enumerate(picks) if pick == ":"]
        if len(kept) != len(shape):
            return Unknown("a subscript that does not name every dimension")
        new = tuple(shape[kept.index(i)] if i in kept else ONE for i in range(len(picks)))
        return reshaped(item, new, lambda dim: kept[dim])

    return distribute(one, value)


def reshaped(item: Value, shape: tuple[Poly, ...], dims: Callable[[int], int]) -> Value:
    """The same lanes at other dimensions of a new shape."""
    if isinstance(item, Num):
        return Num(move_lanes(item.poly, dims), shape, item.dtype, item.constexpr)
    if isinstance(item, Ptr):
        return Ptr(item.base, move_lanes(item.offset, dims), shape)
    if isinstance(item, Mask):
        bounds = None if item.bounds is None else move_bounds(item.bounds, dims)
        return Mask(bounds, shape, item.constexpr)
    return Data(shape, dtype_of(item))


def transpose(value: Value) -> Value:
    def one(item: Value) -> Value:
        shape = shape_of(item)
        if isinstance(item, (Unknown, Missing)):
            return item
        if shape is None or len(shape) != 2:
            return Data(None, dtype_of(item))
        return reshaped(item, (shape[1], shape[0]), lambda dim: 1 - dim)

    return distribute(one, value)


def cast(value: Value, dtype: str) -> Value:
    """`x.to(dtype)`. An integer stays the same number: widening is exact, and narrowing is the source's own claim."""

    def one(item: Value) -> Value:
        item = number(item)
        if isinstance(item, Num) and dtype in INTEGERS:
            return Num(item.poly, item.shape, dtype, constexpr=False)
        if isinstance(item, (Unknown, Missing)):
            return item
        return Data(_shape(item), dtype)

    return distribute(one, value)


def join_values(name: str, test: str, constexpr: bool, then: Value, other: Value, fresh: int) -> Value:
    """What a name holds after an if. A constexpr test keeps both; a run-time test keeps what they share."""
    if then == other:
        return then
    if isinstance(then, Num) and isinstance(other, Num) and then.shape == other.shape == ():
        dtype = then.dtype if then.dtype == other.dtype else promote(then.dtype, other.dtype)
        both = constexpr and then.constexpr and other.constexpr
        return Num(symbols.join(name, test, then.poly, other.poly), (), dtype, both)
    if isinstance(then, Data) and isinstance(other, Data) and then.dtype == other.dtype:
        return Data(then.shape if then.shape == other.shape else None, then.dtype)
    if isinstance(then, Tup) and isinstance(other, Tup) and len(then.items) == len(other.items):
        pairs = zip(then.items, other.items, strict=True)
        return Tup(tuple(join_values(name, test, constexpr, a, b, fresh) for a, b in pairs))
    if constexpr:
        return Guarded(test, then, other)
    return _runtime_join(name, then, other, fresh)


def _runtime_join(name: str, then: Value, other: Value, fresh: int) -> Value:
    if isinstance(then, Missing) or isinstance(other, Missing):
        kept = other if isinstance(then, Missing) else then
        return kept if kept != MISSING else MISSING
    if (
        isinstance(then, Ptr)
        and isinstance(other, Ptr)
        and then.base == other.base
        and then.shape == other.shape
    ):
        return Ptr(then.base, symbols.opaque(name, fresh), then.shape)
    if isinstance(then, (Data, Num, Mask)) and isinstance(other, (Data, Num, Mask)):
        shape = shape_of(then) if shape_of(then) == shape_of(other) else None
        same = dtype_of(then) if dtype_of(then) == dtype_of(other) else "?"
        return Data(shape, same)
    return Unknown(f"`{name}` differs between the branches of a run-time test")
