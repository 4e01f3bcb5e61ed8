"""Where a kernel stands on the axis of one tile: which of its polynomials are positions, and which know the tile."""

from __future__ import annotations

import libcst as cst

from tritonport.facts.algebra import KernelFacts, Poly, Symbol
from tritonport.facts.algebra.ops import number
from tritonport.facts.algebra.poly import ONE
from tritonport.facts.algebra.values import BlockPtr, Bound, Num, Ptr, Shape, Value, alternatives, shape_of
from tritonport.facts.tile_states import FREE, State, tile
from tritonport.facts.walk import find

_LANELESS = "opaque", "join"


class Positions:
    """The positions `i * X + tl.arange(0, X)` of one kernel.

    loops: loops over all tiles of the axis, with the number of the tile in each and the size of the axis.
    programs: axes of the grid whose program id is such a number. loaded: scalars read from where a tile is.
    """

    def __init__(self, facts: KernelFacts, name: str, dependent: frozenset[str]) -> None:
        self.facts, self.name, self.dependent = facts, name, dependent
        self.size = Poly.of(Symbol(name, "constexpr", name))
        (self.symbol,) = self.size.symbols
        self.loaded: set[Symbol] = set()
        self.numbers: set[Symbol] = set()
        self.loops: dict[cst.CSTNode, tuple[Poly, Poly]] = {}
        for loop in find(facts.function.body, cst.For):
            self._note_loop(loop)
        self.numbers |= {symbol for number, _ in self.loops.values() for symbol in number.symbols}
        for value in list(facts.values.values()):
            for _, leaf in alternatives(value):
                self.numbers |= self._numbers(leaf)
        self.programs = frozenset(_axis(symbol) for symbol in self.numbers if symbol.kind == "pid")

    def _note_loop(self, loop: cst.For) -> None:
        """`range(tl.cdiv(D, X))`, `range(0, D, X)`."""
        value = self.facts.values.get(loop.target)
        if not isinstance(value, Num) or not isinstance(loop.iter, cst.Call):
            return
        parts = [self.facts.value(arg.value) for arg in loop.iter.args]
        bounds = [_poly(part) for part in parts]
        if not bounds or any(arg.keyword is not None or arg.star for arg in loop.iter.args):
            return
        start = bounds[0] if len(bounds) > 1 else Poly()
        stop = bounds[min(len(bounds) - 1, 1)]
        if start is None or stop is None or not start.is_zero:
            return
        if len(bounds) == 3:
            number, size = value.poly.quotient(self.size)[0], stop
            whole = bounds[2] == self.size and value.poly == number * self.size
        else:
            (count,) = stop.symbols if len(stop.symbols) == 1 else (None,)
            whole = count is not None and stop == Poly.of(count) and count.key.startswith("cdiv(")
            whole = whole and count is not None and count.parts[1] == self.size
            number, size = value.poly, count.parts[0] if count is not None and whole else stop
        if whole and _single(number) is not None and not any(self._knows(s) for s in size.symbols):
            self.loops[loop] = (number, size)

    def _numbers(self, value: Value) -> set[Symbol]:
        """Program ids that are the number of a tile in some position."""
        pairs: list[Poly] = []
        if isinstance(value, BlockPtr):
            pairs = [o for o, b in zip(value.offsets, value.block, strict=True) if b == self.size]
        elif isinstance(value, Num | Ptr):
            offset = value.poly if isinstance(value, Num) else value.offset
            pairs = [offset] if any(self._is_lane(s) for s in offset.symbols) else []
        return {
            symbol
            for poly in pairs
            for mono, _ in poly.terms
            if self.symbol in mono
            for symbol in mono
            if symbol.kind == "pid"
        }

    def _is_lane(self, symbol: Symbol) -> bool:
        return symbol.kind == "lane" and symbol.extent == self.size

    def _knows(self, symbol: Symbol) -> bool:
        """Whether a symbol depends on the tile, or may."""
        if symbol == self.symbol or symbol in self.numbers or symbol in self.loaded or self._is_lane(symbol):
            return True
        unclear = symbol.kind in _LANELESS or symbol.key in self.dependent
        counted = symbol.kind == "param" and symbol.key.startswith("num_programs(")
        return unclear or counted or any(self._knows(s) for part in symbol.parts for s in part.symbols)

    def clear(self, *polys: Poly) -> bool:
        """Whether nothing in a polynomial depends on the tile."""
        return not any(self._knows(symbol) for poly in polys for symbol in poly.symbols)

    def state(self, value: Value) -> State | None:
        """What the algebra alone says of a value; None where that takes a look at how it was made."""
        found = {self._leaf(leaf) for _, leaf in alternatives(value)}
        return found.pop() if len(found) == 1 else None

    def _leaf(self, value: Value) -> State | None:
        if isinstance(value, BlockPtr):
            return self._block(value)
        if not isinstance(value, Num | Ptr) or not value.shape:
            return None
        offset = value.poly if isinstance(value, Num) else value.offset
        if isinstance(value, Ptr) and value.base in self.dependent:
            return tile(f"the host makes `{value.base}` with the tile's size")
        number = self.number(offset)
        return None if number is None else State("point", number)

    def _block(self, value: BlockPtr) -> State:
        cut = [dim for dim, extent in enumerate(value.block) if extent == self.size]
        others = [o for dim, o in enumerate(value.offsets) if dim not in cut]
        why = f"a block of `{value.base.base}` is not the i-th tile of one axis"
        if value.base.base in self.dependent or not self.clear(
            value.base.offset, *value.strides, *value.shape, *others
        ):
            return tile(why)
        if not cut:
            return FREE
        number = None if len(cut) > 1 else self._start(value.offsets[cut[0]])
        return tile(why) if number is None else State("point", number)

    def _start(self, poly: Poly, factor: Poly = ONE) -> Poly | None:
        """i where a polynomial is factor * i * X + what does not depend on the tile."""
        mine, rest = poly.split(lambda mono: self.symbol in mono)
        if not self.clear(rest) or len(factor.terms) != 1:
            return None
        number, left = mine.quotient(factor * self.size)
        return number if left.is_zero and self._is_number(number) else None

    def _is_number(self, poly: Poly) -> bool:
        symbol = _single(poly)
        walked = {number for number, _ in self.loops.values()}
        return symbol is not None and (symbol.kind == "pid" or poly in walked)

    def number(self, poly: Poly) -> Poly | None:
        """The number of the tile where a polynomial is a position on the axis, or linear in one."""
        lanes = [symbol for symbol in poly.symbols if self._is_lane(symbol)]
        factor = poly.coefficient(lanes[0]) if len(lanes) == 1 else None
        if factor is None or not self.clear(factor):
            return None
        return self._start(poly - factor * Poly.of(lanes[0]), factor)

    def holds(self, bounds: tuple[Bound, ...], at: Poly | None) -> bool:
        """Whether compares keep a position of that tile within the axis."""
        sizes = {size for number, size in self.loops.values() if number == at}
        for bound in bounds:
            lanes = [symbol for symbol in bound.left.symbols if self._is_lane(symbol)]
            if len(lanes) != 1 or bound.op != "<" or not self.clear(bound.right):
                continue
            start = bound.left - Poly.of(lanes[0])
            if at is not None and start == at * self.size and (not sizes or bound.right in sizes):
                return True
        return False

    def axes(self, shape: Shape | None) -> list[int]:
        """Dimensions of a shape that the tile is."""
        return [] if shape is None else [dim for dim, extent in enumerate(shape) if extent == self.size]

    def shape_known(self, value: Value) -> bool:
        """Whether a value that depends on positions has them in one dimension at the most."""
        shapes = [shape_of(leaf) for _, leaf in alternatives(value)]
        return all(shape is not None and len(self.axes(shape)) <= 1 for shape in shapes)

    def is_first(self, test: cst.BaseExpression) -> bool:
        """`i == 0` of the number of a tile."""
        if not isinstance(test, cst.Comparison) or len(test.comparisons) != 1:
            return False
        (compare,) = test.comparisons
        left, right = _poly(self.facts.value(test.left)), _poly(self.facts.value(compare.comparator))
        if not isinstance(compare.operator, cst.Equal) or left is None or right is None:
            return False
        symbol = _single(left)
        return right.is_zero and symbol is not None and symbol in self.numbers


def _single(poly: Poly) -> Symbol | None:
    """The symbol that a polynomial is, None for anything else."""
    (symbol,) = poly.symbols if len(poly.symbols) == 1 else (None,)
    return symbol if symbol is not None and poly == Poly.of(symbol) else None


def _poly(value: Value) -> Poly | None:
    found = number(value)
    return found.poly if isinstance(found, Num) and not found.shape else None


def _axis(symbol: Symbol) -> int:
    digits = symbol.key.removeprefix("program_id(").removesuffix(")")
    return int(digits) if digits.isdigit() else -1
