"""Splits index expressions into a scalar part and a tile-local part, as syntax.

`o = i * BT + tl.arange(0, BT)` is a scalar, `i * BT`, that may need 64 bits, and a tile, `tl.arange(0, BT)`, that a
constexpr bounds. The scalar belongs on the pointer, where it costs nothing; the tile stays in 32 bits.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import libcst as cst

from tritonport.facts.algebra import Def, KernelFacts, Poly, ops
from tritonport.facts.algebra.accesses import mentions_lane
from tritonport.facts.algebra.poly import ZERO, upper_bound
from tritonport.facts.algebra.values import Guarded, Num, Ptr, Value, alternatives
from tritonport.facts.walk import code_of, names_in
from tritonport.passes.syntax import call, method, minus, plus, times, wrapped

_NARROW = frozenset({"weak", "int32", "int16", "int8"})


@dataclass(frozen=True)
class Parts:
    """scalar + tile. poly: what the scalar is worth. narrow: whether the scalar has at most 32 bits."""

    scalar: cst.BaseExpression | None
    tile: cst.BaseExpression | None
    poly: Poly = ZERO
    narrow: bool = True


class Splitter:
    """Splits the expressions of one kernel. bases: names that are rebased, with the name of their scalar part."""

    def __init__(self, facts: KernelFacts) -> None:
        self.facts = facts
        self.bases: dict[str, str] = {}
        self.narrow_bases: set[str] = set()
        self.shifts: dict[Def, Poly] = {}
        """Scalars that stay in the tile of a rebased assignment: `o + i` where i needs no 64 bits."""
        self.narrowed: set[Def] = set()
        """Loop variables whose bounds the rule makes 32 bits wide."""

    def number(self, node: cst.BaseExpression) -> Num | None:
        """The number or index tile that an expression is, None for anything else."""
        value = self.facts.value(node)
        if isinstance(value, Guarded):
            leaves = [leaf for _, leaf in alternatives(value)]
            value = leaves[0] if all(isinstance(leaf, Num) for leaf in leaves) else value
        value = ops.number(value)
        return value if isinstance(value, Num) else None

    def is_scalar(self, node: cst.BaseExpression) -> bool:
        number = self.number(node)
        return number is not None and not number.shape

    def wide(self, node: cst.BaseExpression) -> bool:
        """Whether a scalar may need 64 bits, or no constexpr bounds it. A cast to int32 is the source's word."""
        number = self.number(node)
        if number is None or number.constexpr or _is_cast_to_int32(node):
            return False
        if number.dtype in _NARROW or self._all_narrow(node):
            return upper_bound(number.poly) is None
        return True

    def _all_narrow(self, node: cst.BaseExpression) -> bool:
        """Whether each name in an expression is narrow, given the loops that become so."""
        reads = [name for name in names_in(node) if name in self.facts.reads]
        return bool(reads) and "int64" not in code_of(node) and all(self._narrow_name(name) for name in reads)

    def _narrow_name(self, name: cst.Name) -> bool:
        number = self.number(name)
        if number is not None and (number.constexpr or number.dtype in _NARROW):
            return True
        return bool(self.facts.reads[name]) and self.facts.reads[name] <= self.narrowed

    def split(self, node: cst.BaseExpression) -> Parts | None:
        """The parts of an index expression; None where it does not come apart."""
        number = self.number(node)
        if number is None:
            return None
        if not number.shape:
            return (
                Parts(node, None, number.poly, number.dtype in _NARROW)
                if self.wide(node)
                else Parts(None, node)
            )
        if isinstance(node, cst.Name):
            return self._name(node, number)
        if isinstance(node, cst.BinaryOperation):
            return self._operation(node)
        if isinstance(node, cst.Subscript):
            inner = self.split(node.value)
            return None if inner is None or inner.tile is None else self._with_tile(inner, node, "value")
        if (
            isinstance(node, cst.Call)
            and isinstance(node.func, cst.Attribute)
            and node.func.attr.value == "to"
        ):
            return self._cast(node, node.func)
        return Parts(None, node) if self.is_local(node) else None

    def is_local(self, node: cst.BaseExpression) -> bool:
        """Whether a tile has no scalar part that needs to be taken out, and no rebased name in it."""
        names = names_in(node)
        return not any(name.value in self.bases for name in names if name in self.facts.reads)

    def _name(self, node: cst.Name, number: Num) -> Parts | None:
        if node.value not in self.bases:
            return Parts(None, node)
        shifts = {self.shifts.get(definition, ZERO) for definition in self.facts.reads.get(node, ())}
        if len(shifts) > 1:
            return None  # where the tile starts depends on the assignment
        moved = scalar_of(number) - next(iter(shifts), ZERO)
        return Parts(cst.Name(self.bases[node.value]), node, moved, node.value in self.narrow_bases)

    def _with_tile(self, inner: Parts, node: cst.BaseExpression, field: str) -> Parts:
        if inner.tile is getattr(node, field):
            return Parts(inner.scalar, node, inner.poly, inner.narrow)
        tile = node.with_changes(**{field: wrapped(inner.tile)}) if inner.tile is not None else None
        return Parts(inner.scalar, tile, inner.poly, inner.narrow)

    def _cast(self, node: cst.Call, func: cst.Attribute) -> Parts | None:
        inner = self.split(func.value)
        if inner is None:
            return None
        scalar = method(inner.scalar, "to", code_of(node.args[0].value)) if inner.scalar is not None else None
        return Parts(scalar, inner.tile, inner.poly, narrow=inner.narrow and scalar is None)

    def _operation(self, node: cst.BinaryOperation) -> Parts | None:
        left, right = self.split(node.left), self.split(node.right)
        if left is None or right is None:
            return None
        if isinstance(node.operator, cst.Add):
            return _sum(node, left, right)
        if isinstance(node.operator, cst.Subtract):
            return _difference(node, left, right)
        if isinstance(node.operator, cst.Multiply):
            return self._product(node, left, right)
        return Parts(None, node) if left.scalar is None and right.scalar is None else None

    def _product(self, node: cst.BinaryOperation, left: Parts, right: Parts) -> Parts | None:
        if self.is_scalar(node.right):
            mixed, factor, field = left, node.right, "left"
        elif self.is_scalar(node.left):
            mixed, factor, field = right, node.left, "right"
        else:
            return Parts(None, node) if left.scalar is None and right.scalar is None else None
        number = self.number(factor)
        if mixed.tile is None or number is None:
            return None
        kept = self._with_tile(mixed, node, field)
        if mixed.scalar is None:
            return kept
        if not number.constexpr and upper_bound(number.poly) is None:
            return None  # a lane times a stride that only the host knows may not fit 32 bits
        scalar = times(mixed.scalar, factor) if field == "left" else times(factor, mixed.scalar)
        return Parts(scalar, kept.tile, mixed.poly * number.poly, mixed.narrow)


def scalar_of(number: Num) -> Poly:
    """What of an index is the same for every lane."""
    return number.poly.split(lambda mono: not any(mentions_lane(s) for s in mono))[0]


def _sum(node: cst.BinaryOperation, left: Parts, right: Parts) -> Parts:
    scalar = _joined(left.scalar, right.scalar)
    poly, narrow = left.poly + right.poly, left.narrow and right.narrow
    if left.tile is node.left and right.tile is node.right:
        return Parts(scalar, node, poly, narrow)
    if left.tile is None or right.tile is None:
        return Parts(scalar, left.tile or right.tile, poly, narrow)
    return Parts(scalar, node.with_changes(left=left.tile, right=wrapped(right.tile)), poly, narrow)


def _difference(node: cst.BinaryOperation, left: Parts, right: Parts) -> Parts | None:
    if left.tile is None and right.tile is not None:
        return None if left.scalar is not None or right.scalar is not None else Parts(None, node)
    scalar = (
        left.scalar if right.scalar is None else minus(left.scalar, right.scalar) if left.scalar else None
    )
    if scalar is None and right.scalar is not None:
        return None
    poly, narrow = left.poly - right.poly, left.narrow and right.narrow
    if left.tile is node.left and right.tile is node.right:
        return Parts(scalar, node, poly, narrow)
    if left.tile is None or right.tile is None:
        return Parts(scalar, left.tile, poly, narrow)
    return Parts(scalar, node.with_changes(left=left.tile, right=wrapped(right.tile)), poly, narrow)


def _joined(left: cst.BaseExpression | None, right: cst.BaseExpression | None) -> cst.BaseExpression | None:
    return plus(left, right) if left is not None and right is not None else left or right


def is_pointer(value: Value) -> bool:
    return any(isinstance(leaf, Ptr) for _, leaf in alternatives(value))


def chain(node: cst.BaseExpression) -> list[tuple[str, cst.BaseExpression]]:
    """The summands of an addition, left to right, each with its sign."""
    if isinstance(node, cst.BinaryOperation) and isinstance(node.operator, (cst.Add, cst.Subtract)):
        sign = "+" if isinstance(node.operator, cst.Add) else "-"
        return [*chain(node.left), (sign, node.right)]
    return [("+", node)]


def pointer_sum(splitter: Splitter, node: cst.BaseExpression) -> cst.BaseExpression | None:
    """An address with every scalar before every tile: same sum, None where nothing has to move."""
    terms = chain(node)
    if any(sign == "-" for sign, _ in terms):
        return None
    scalars: list[cst.BaseExpression] = []
    tiles: list[cst.BaseExpression] = []
    moved = False
    for _, term in terms:
        if is_pointer(splitter.facts.value(term)) or splitter.is_scalar(term):
            late = bool(tiles) and splitter.wide(term)
            moved |= late
            (scalars if late or not tiles else tiles).append(term)
            continue
        parts = splitter.split(term)
        if parts is None:
            return None
        if parts.scalar is not None:
            moved = True
            scalars.append(widened(parts))
        if parts.tile is not None:
            tiles.append(parts.tile)
    return _added([*scalars, *tiles]) if moved and scalars else None


def widened(parts: Parts) -> cst.BaseExpression:
    """The scalar part in 64 bits: a global offset does not fit 32."""
    assert parts.scalar is not None
    return call("tl.cast", parts.scalar, cst.parse_expression("tl.int64")) if parts.narrow else parts.scalar


def _added(terms: Sequence[cst.BaseExpression]) -> cst.BaseExpression:
    total = terms[0]
    for term in terms[1:]:
        total = plus(total, term)
    return total


def _is_cast_to_int32(node: cst.BaseExpression) -> bool:
    if not isinstance(node, cst.Call) or not isinstance(node.func, cst.Attribute) or not node.args:
        return False
    return node.func.attr.value == "to" and code_of(node.args[0].value).endswith("int32")
