"""What an expression of a kernel can be: numbers and tiles of numbers, pointers, masks, data, and the unknown."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from typing import Literal

import libcst as cst

from tritonport.facts.algebra.poly import ONE, Poly

Shape = tuple[Poly, ...]
"""Extents per dimension; a broadcast dimension has extent 1. A scalar has no dimension."""

DType = str
"""A Triton dtype name (`int64`, `float32`), `weak` for Python and constexpr numbers, `elem:p` for the element type of
parameter p, `arg` for an integer parameter (int32 or int64 by its value), `?` where it is not known."""

INTEGERS = frozenset(
    {"int8", "int16", "int32", "int64", "uint8", "uint16", "uint32", "uint64", "weak", "arg"}
)
CompareOp = Literal["<", "<=", ">", ">=", "==", "!="]


@dataclass(frozen=True)
class Num:
    """An integer, or a tile of integers, that the algebra understands. constexpr: known when the kernel compiles."""

    poly: Poly
    shape: Shape = ()
    dtype: DType = "weak"
    constexpr: bool = False


@dataclass(frozen=True)
class Ptr:
    """A pointer, or a tile of pointers: a pointer parameter and an offset in elements."""

    base: str
    offset: Poly
    shape: Shape = ()


@dataclass(frozen=True)
class BlockPtr:
    """What `tl.make_block_ptr` makes. Shapes, strides and offsets are in elements."""

    base: Ptr
    shape: tuple[Poly, ...]
    strides: tuple[Poly, ...]
    offsets: tuple[Poly, ...]
    block: tuple[Poly, ...]
    order: tuple[int, ...] | None


@dataclass(frozen=True)
class Bound:
    """One compare: left op right, over lanes."""

    left: Poly
    op: CompareOp
    right: Poly


@dataclass(frozen=True)
class Mask:
    """A truth value or a tile of them. bounds: the compares that all hold; None when it is not such a conjunction."""

    bounds: tuple[Bound, ...] | None
    shape: Shape | None = ()
    constexpr: bool = False


@dataclass(frozen=True)
class Data:
    """A value that is not an index: what was loaded, or computed from it. shape is None when it is not known."""

    shape: Shape | None
    dtype: DType


@dataclass(frozen=True)
class Const:
    """A Python value, a dtype, a module or a function, by its value or its dotted name."""

    value: object


@dataclass(frozen=True)
class Tup:
    items: tuple[Value, ...]


@dataclass(frozen=True)
class Guarded:
    """One value where a constexpr test holds, another where it does not. test: its source text."""

    test: str
    then: Value
    other: Value

    @cached_property
    def tests(self) -> frozenset[str]:
        """Every test that this value depends on."""
        return frozenset({self.test}) | tests_of(self.then) | tests_of(self.other)


@dataclass(frozen=True)
class Missing:
    """A name that no assignment reached."""


@dataclass(frozen=True)
class Unknown:
    """Something that the analysis does not follow. why: a phrase for the user; node: where it stopped."""

    why: str
    node: cst.CSTNode | None = None


Value = Num | Ptr | BlockPtr | Mask | Data | Const | Tup | Guarded | Missing | Unknown
MISSING = Missing()
NONE = Const(None)


def tests_of(value: Value) -> frozenset[str]:
    """The constexpr tests that a value depends on."""
    if isinstance(value, Guarded):
        return value.tests
    if isinstance(value, Tup):
        return frozenset[str]().union(*(tests_of(item) for item in value.items))
    return frozenset()


def shape_of(value: Value) -> Shape | None:
    """The shape of a value, None where it has none or it is not known."""
    if isinstance(value, (Num, Ptr, Mask, Data)):
        return value.shape
    return value.block if isinstance(value, BlockPtr) else None


def is_scalar(value: Value) -> bool:
    return shape_of(value) == ()


def broadcast(left: Shape | None, right: Shape | None) -> Shape | None:
    """The shape of a combination, trailing dimensions aligned; None if one of them is not known."""
    if left is None or right is None:
        return None
    rank = max(len(left), len(right))
    a = (ONE,) * (rank - len(left)) + left
    b = (ONE,) * (rank - len(right)) + right
    return tuple(y if x == ONE else x for x, y in zip(a, b, strict=True))


def promote(left: DType, right: DType) -> DType:
    """The dtype of a combination, as Triton promotes; `?` where it depends on what is not known."""
    if right in (left, "weak"):
        return left
    if left == "weak":
        return right
    pair = {left, right}
    for strongest in ("float64", "float32"):
        if strongest in pair:
            return strongest
    if pair <= INTEGERS:
        return "arg" if "arg" in pair and "int64" not in pair else _widest(pair)
    floats = [d for d in (left, right) if d not in INTEGERS]
    if "arg" in pair:
        return "?"
    return floats[0] if len(floats) == 1 and floats[0] != "?" else "?"


def _widest(pair: set[DType]) -> DType:
    return max(pair - {"arg"}, key=lambda name: int(name.lstrip("uint")))


def alternatives(value: Value) -> tuple[tuple[dict[str, bool], Value], ...]:
    """Every value behind guards, with the outcome of the tests under which it holds."""
    if not isinstance(value, Guarded):
        return (({}, value),)
    found: list[tuple[dict[str, bool], Value]] = []
    for outcome, branch in ((True, value.then), (False, value.other)):
        for guards, leaf in alternatives(assume(branch, value.test, outcome=outcome)):
            found.append(({value.test: outcome, **guards}, leaf))
    return tuple(found)


def assume(value: Value, test: str, *, outcome: bool) -> Value:
    """The value where a test is known to hold, or not to hold."""
    if not isinstance(value, (Guarded, Tup)) or test not in tests_of(value):
        return value
    if isinstance(value, Tup):
        return Tup(tuple(assume(item, test, outcome=outcome) for item in value.items))
    if value.test == test:
        return assume(value.then if outcome else value.other, test, outcome=outcome)
    then, other = assume(value.then, test, outcome=outcome), assume(value.other, test, outcome=outcome)
    return then if then == other else Guarded(value.test, then, other)
