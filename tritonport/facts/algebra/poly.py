"""Integer polynomials over named symbols, the values of the index algebra.

A symbol stands for one value at one point of one program: a program id, a loop variable, a constexpr, a loaded
scalar, a lane of a tile. Two symbols are the same value exactly when their keys are equal, so equal polynomials are
equal values. Quotients, remainders, minima and maxima are symbols themselves, with their operands inside the key.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable
from dataclasses import dataclass, field
from functools import cache, cached_property
from operator import attrgetter
from typing import Literal

SymbolKind = Literal["pid", "loop", "constexpr", "param", "load", "join", "op", "lane", "opaque"]


@dataclass(frozen=True)
class Symbol:
    """One unknown. key: its identity; label: how reports print it; lo, hi: inclusive bounds where known.

    A lane (kind `lane`) is the index along dimension dim of a tile, from 0 to extent - 1.
    """

    key: str
    kind: SymbolKind = field(compare=False)
    label: str = field(compare=False)
    lo: Poly | None = field(default=None, compare=False, repr=False)
    hi: Poly | None = field(default=None, compare=False, repr=False)
    dim: int = field(default=0, compare=False)
    extent: Poly | None = field(default=None, compare=False, repr=False)
    parts: tuple[Poly, ...] = field(default=(), compare=False, repr=False)
    """What it was made of: the operands of an `op`, the alternatives of a `join`."""
    born: int = field(default=-1, compare=False)
    """Number of the place that made it, in order of the text; -1 for what holds in the whole kernel."""

    def __hash__(self) -> int:
        return hash(self.key)

    def __eq__(self, other: object) -> bool:
        return self is other or (isinstance(other, Symbol) and self.key == other.key)

    def newer(self, number: int) -> bool:
        """Whether it, or a part of it, was made after that place."""
        return self.born >= number or any(s.newer(number) for part in self.parts for s in part.symbols)

    def __str__(self) -> str:
        return self.label


Monomial = tuple[Symbol, ...]


_symbol_key = attrgetter("key")


def _term_key(term: tuple[Monomial, int]) -> tuple[str, ...]:
    return tuple(s.key for s in term[0])


@dataclass(frozen=True)
class Poly:
    """A sum of integer multiples of products of symbols, in canonical order."""

    terms: tuple[tuple[Monomial, int], ...] = ()

    @staticmethod
    def const(value: int) -> Poly:
        return Poly((((), value),)) if value else Poly()

    @staticmethod
    def of(symbol: Symbol) -> Poly:
        return Poly((((symbol,), 1),))

    @staticmethod
    def build(terms: Iterable[tuple[Monomial, int]]) -> Poly:
        total: dict[Monomial, int] = {}
        for mono, factor in terms:
            ordered = tuple(sorted(mono, key=_symbol_key)) if len(mono) > 1 else mono
            total[ordered] = total.get(ordered, 0) + factor
        kept = [(mono, factor) for mono, factor in total.items() if factor]
        return Poly(tuple(sorted(kept, key=_term_key) if len(kept) > 1 else kept))

    def __hash__(self) -> int:
        return self._hash

    def __eq__(self, other: object) -> bool:
        return self is other or (
            isinstance(other, Poly) and self._hash == other._hash and self.terms == other.terms
        )

    @cached_property
    def _hash(self) -> int:
        """Polynomials are compared and looked up far more often than they are made."""
        return hash(self.terms)

    def __add__(self, other: Poly) -> Poly:
        if not self.terms or not other.terms:
            return self if self.terms else other
        return Poly.build(self.terms + other.terms)

    def __neg__(self) -> Poly:
        return Poly(tuple((mono, -factor) for mono, factor in self.terms))

    def __sub__(self, other: Poly) -> Poly:
        return self + -other

    def __mul__(self, other: Poly) -> Poly:
        return Poly.build((a + b, x * y) for a, x in self.terms for b, y in other.terms)

    @cached_property
    def symbols(self) -> frozenset[Symbol]:
        return frozenset(s for mono, _ in self.terms for s in mono)

    @cached_property
    def value(self) -> int | None:
        """The number, when this is one."""
        if not self.terms:
            return 0
        return self.terms[0][1] if len(self.terms) == 1 and not self.terms[0][0] else None

    @property
    def is_zero(self) -> bool:
        return not self.terms

    def lanes(self) -> frozenset[Symbol]:
        return self._lanes

    @cached_property
    def _lanes(self) -> frozenset[Symbol]:
        return frozenset(s for s in self.symbols if s.kind == "lane")

    def map_symbols(self, change: Callable[[Symbol], Poly]) -> Poly:
        """The polynomial with every symbol replaced by change(symbol)."""
        total = Poly()
        for mono, factor in self.terms:
            product = Poly.const(factor)
            for symbol in mono:
                product = product * change(symbol)
            total = total + product
        return total

    def split(self, wanted: Callable[[Monomial], bool]) -> tuple[Poly, Poly]:
        """The terms whose monomial is wanted, and the rest."""
        yes = tuple(t for t in self.terms if wanted(t[0]))
        return Poly(yes), Poly(tuple(t for t in self.terms if not wanted(t[0])))

    def coefficient(self, symbol: Symbol) -> Poly | None:
        """The factor of symbol, None where it occurs to a higher power. It may hold other lanes."""
        if any(mono.count(symbol) > 1 for mono, _ in self.terms):
            return None
        return Poly.build(
            (tuple(s for s in mono if s != symbol), factor) for mono, factor in self.terms if symbol in mono
        )

    def quotient(self, divisor: Poly) -> tuple[Poly, Poly]:
        """(a, b) with self = divisor * a + b, for a divisor of one term; b has no term that it divides."""
        if len(divisor.terms) != 1:
            raise ValueError(f"not a single term: {divisor}")
        (symbols, factor), done, rest = divisor.terms[0], [], []
        for mono, number in self.terms:
            left = _without(mono, symbols)
            if left is not None and number % factor == 0:
                done.append((left, number // factor))
            else:
                rest.append((mono, number))
        return Poly.build(done), Poly.build(rest)

    def __str__(self) -> str:
        return self._text

    @cached_property
    def _text(self) -> str:
        if not self.terms:
            return "0"
        text = " + ".join(_show(mono, factor) for mono, factor in self.terms)
        return text.replace("+ -", "- ")


def _without(mono: Monomial, factors: Monomial) -> Monomial | None:
    """The monomial divided by another one, None where that leaves a rest."""
    left = list(mono)
    for symbol in factors:
        if symbol not in left:
            return None
        left.remove(symbol)
    return tuple(left)


def _show(mono: Monomial, factor: int) -> str:
    labels = [f"({s})" if " " in s.label and not s.label.endswith(")") else str(s) for s in mono]
    if factor == -1 and labels:
        return "-" + "*".join(labels)
    return "*".join(([] if factor == 1 and labels else [str(factor)]) + labels)


ZERO = Poly()
ONE = Poly.const(1)


@cache
def lane(dim: int, extent: Poly) -> Symbol:
    """The index along dimension dim of a tile with that many rows; all aranges of one extent share it."""
    return Symbol(
        f"lane{dim}[{extent}]", "lane", f"lane{dim}<{extent}>", ZERO, extent - ONE, dim=dim, extent=extent
    )


def move_lanes(poly: Poly, dims: Callable[[int], int]) -> Poly:
    """The polynomial with each lane moved to another dimension of its tile."""
    if not poly.lanes():
        return poly

    def change(symbol: Symbol) -> Poly:
        if symbol.kind != "lane" or symbol.extent is None:
            return Poly.of(symbol)
        return Poly.of(lane(dims(symbol.dim), symbol.extent))

    return poly.map_symbols(change)


def nonnegative(poly: Poly) -> bool:
    """Whether it is certainly >= 0: every factor is positive and every symbol has a known lower bound >= 0."""
    return all(
        factor >= 0 and all(s.lo is not None and nonnegative(s.lo) for s in mono)
        for mono, factor in poly.terms
    )


def upper_bound(poly: Poly) -> Poly | None:
    """A bound over lanes, loop variables and remainders in terms of constexprs and numbers, or None."""
    return _bound(poly, upper=True)


def lower_bound(poly: Poly) -> Poly | None:
    """As upper_bound, from below."""
    return _bound(poly, upper=False)


def _bound(poly: Poly, *, upper: bool) -> Poly | None:
    total = ZERO
    for mono, factor in poly.terms:
        best = Poly.const(factor)
        for symbol in mono:
            step = _extreme(symbol, upper=upper == (factor > 0), alone=len(mono) == 1)
            if step is None:
                return None
            best = best * step
        total = total + best
    return total


def _extreme(symbol: Symbol, *, upper: bool, alone: bool) -> Poly | None:
    """The symbol's own end of range; in a product each factor must be nonnegative for that to bound it."""
    if symbol.kind == "constexpr":
        return Poly.of(symbol)
    if not alone and (symbol.lo is None or not nonnegative(symbol.lo)):
        return None
    end = symbol.hi if upper else symbol.lo
    return None if end is None else _bound(end, upper=upper)
