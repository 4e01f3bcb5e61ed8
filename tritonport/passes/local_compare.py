"""Compares of rebased indices: a global limit becomes a limit inside the tile, a scalar on both sides cancels."""

from __future__ import annotations

from dataclasses import dataclass

import libcst as cst

from tritonport.facts.algebra.accesses import mentions_lane
from tritonport.facts.algebra.ops import COMPARE
from tritonport.facts.algebra.poly import ONE, ZERO, Poly, nonnegative
from tritonport.passes.syntax import call, method, minus, plus
from tritonport.passes.tile_split import Parts, Splitter

_MIRROR = {"<": ">", "<=": ">=", ">": "<", ">=": "<=", "==": "==", "!=": "!="}


@dataclass(frozen=True)
class _Side:
    node: cst.BaseExpression
    parts: Parts
    extent: Poly | None
    """The tile's extent where it is a lane plus shift, None otherwise."""
    shift: Poly = ZERO


class LocalCompare:
    """Rewrites the compares of one kernel."""

    def __init__(self, splitter: Splitter) -> None:
        self.splitter = splitter

    def rewritten(self, node: cst.Comparison) -> cst.Comparison | None:
        """The compare inside the tile. The node itself: it is right as it stands. None: not one of ours."""
        if len(node.comparisons) != 1:
            return None
        op = COMPARE.get(type(node.comparisons[0].operator))
        left, right = self._side(node.left), self._side(node.comparisons[0].comparator)
        if op is None or left is None or right is None:
            return None
        if left.parts.tile is not None and not self._scalar(left) and not self._scalar(right):
            return self._two_tiles(node, left, right)
        if self._scalar(left) == self._scalar(right):
            return None
        tile, scalar = (left, right) if self._scalar(right) else (right, left)
        op = op if tile is left else _MIRROR[op]
        limit = self._limit(op, tile, scalar)
        if limit is None:
            return None
        strict = op == ">=" and limit is not scalar.node and not self._beside_upper_limit(node, tile)
        limit = minus(limit, cst.Integer("1")) if strict else limit
        sides = (tile.parts.tile, limit) if tile is left else (limit, tile.parts.tile)
        found = _with(node, *sides)
        return _strict(found) if strict and found is not None else found

    def _from_below(self, op: str, tile: _Side, scalar: _Side) -> bool:
        """Whether a number in the text bounds an index from below (`o >= 0`).

        Such a limit stays as it is: triton-adapter 3.2.0 crashes on a mask whose lower limit is no constant.
        """
        return op in (">", ">=") and tile.parts.scalar is not None and _literal(scalar.node)

    def _beside_upper_limit(self, node: cst.Comparison, tile: _Side) -> bool:
        """Whether the same lanes have an upper limit in the same mask: `(o >= first) & (o < last)`."""
        parent = self.splitter.facts.parents.get(node)
        if not (isinstance(parent, cst.BinaryOperation) and isinstance(parent.operator, cst.BitAnd)):
            return False
        other = parent.right if parent.left is node else parent.left
        if not (isinstance(other, cst.Comparison) and len(other.comparisons) == 1):
            return False
        op, right = COMPARE.get(type(other.comparisons[0].operator)), other.comparisons[0].comparator
        lanes = other.left if op in ("<", "<=") else right if op in (">", ">=") else None
        return lanes is not None and lanes.deep_equals(tile.node)

    def _scalar(self, side: _Side) -> bool:
        return self.splitter.is_scalar(side.node)

    def _side(self, node: cst.BaseExpression) -> _Side | None:
        number, parts = self.splitter.number(node), self.splitter.split(node)
        if number is None or parts is None:
            return None
        scalar, tile = number.poly.split(lambda mono: not any(mentions_lane(s) for s in mono))
        shift = scalar - parts.poly if parts.scalar is not None or number.shape else ZERO
        extent = _extent(tile) if all(s.kind == "constexpr" for s in shift.symbols) else None
        return _Side(node, parts, extent, shift)

    def _two_tiles(self, node: cst.Comparison, left: _Side, right: _Side) -> cst.Comparison | None:
        if left.parts.scalar is None and right.parts.scalar is None:
            return None
        if left.parts.poly == right.parts.poly:
            return _with(node, left.parts.tile, right.parts.tile)
        if left.extent is None or right.extent is None or right.parts.tile is None:
            return None
        distance = _distance(right.parts.scalar, left.parts.scalar)
        most, least = left.extent + left.shift - right.shift, left.shift - right.shift - right.extent
        return _with(node, left.parts.tile, plus(right.parts.tile, _kept(distance, least, most)))

    def _limit(self, op: str, tile: _Side, scalar: _Side) -> cst.BaseExpression | None:
        """Where `tile op limit` is the compare: the global limit less the tile's start, kept to the tile's range."""
        if tile.parts.scalar is None and not self._int64(scalar.node):
            return None
        if self._from_below(op, tile, scalar):
            sure = nonnegative(tile.parts.poly) and _is_zero(scalar.node) and op == ">="
            return scalar.node if sure else None
        if tile.extent is None:
            return None
        distance = scalar.node if tile.parts.scalar is None else minus(scalar.node, tile.parts.scalar)
        low, high = _ends(op, tile.extent)
        return _kept(distance, low + tile.shift, high + tile.shift)

    def _int64(self, node: cst.BaseExpression) -> bool:
        number = self.splitter.number(node)
        return number is not None and number.dtype == "int64" and self.splitter.wide(node)


def _literal(node: cst.BaseExpression) -> bool:
    inner = node.expression if isinstance(node, cst.UnaryOperation) else node
    return isinstance(inner, cst.Integer)


def _is_zero(node: cst.BaseExpression) -> bool:
    return isinstance(node, cst.Integer) and node.evaluated_value == 0


def _distance(to: cst.BaseExpression | None, start: cst.BaseExpression | None) -> cst.BaseExpression:
    if start is None:
        assert to is not None
        return to
    return minus(to, start) if to is not None else cst.UnaryOperation(cst.Minus(), start)


def _kept(value: cst.BaseExpression, low: Poly, high: Poly) -> cst.BaseExpression:
    """The value kept to [low, high], then as int32: the clamp comes first, so that nothing wraps."""
    clamped = call("tl.maximum", call("tl.minimum", value, _source(high)), _source(low))
    return method(clamped, "to", "tl.int32")


def _source(poly: Poly) -> cst.BaseExpression:
    return cst.parse_expression(str(poly))


def _ends(op: str, extent: Poly) -> tuple[Poly, Poly]:
    """Limits outside [low, high] compare as low or high do, for every lane in 0 .. extent - 1."""
    if op in ("<", ">="):
        return ZERO, extent
    return (-ONE, extent) if op in ("==", "!=") else (-ONE, extent - ONE)


def _extent(tile: Poly) -> Poly | None:
    """The extent of a tile that is one lane and nothing else, where it is a constexpr."""
    if len(tile.terms) != 1 or tile.terms[0][1] != 1 or len(tile.terms[0][0]) != 1:
        return None
    extent = tile.terms[0][0][0].extent
    return extent if extent is not None and all(s.kind == "constexpr" for s in extent.symbols) else None


def _strict(node: cst.Comparison) -> cst.Comparison:
    """`>` for `>=`, and `<` for `<=`.

    triton-adapter 3.2.0 takes `lanes >= limit` for the lower limit of a transfer. Where that is no constant, and no
    upper limit stands beside it, it crashes (SIGSEGV) in one run of four.
    """
    target = node.comparisons[0]
    old = target.operator
    kind = cst.GreaterThan if isinstance(old, cst.GreaterThanEqual) else cst.LessThan
    assert isinstance(old, cst.GreaterThanEqual | cst.LessThanEqual)
    operator = kind(whitespace_before=old.whitespace_before, whitespace_after=old.whitespace_after)
    return node.with_changes(comparisons=[target.with_changes(operator=operator)])


def _with(
    node: cst.Comparison, left: cst.BaseExpression | None, right: cst.BaseExpression | None
) -> cst.Comparison | None:
    if left is None or right is None:
        return None
    target = node.comparisons[0]
    if left is node.left and right is target.comparator:
        return node
    return node.with_changes(left=left, comparisons=[target.with_changes(comparator=right)])
