"""How names change from one iteration of a loop to the next."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field

from tritonport.facts.algebra import symbols
from tritonport.facts.algebra.facts import Defs
from tritonport.facts.algebra.ops import distribute
from tritonport.facts.algebra.poly import ONE, ZERO, Poly
from tritonport.facts.algebra.values import BlockPtr, Data, Mask, Num, Ptr, Value, broadcast

Env = dict[str, tuple[Value, Defs]]


@dataclass(frozen=True)
class Counter:
    """A loop's variable. trips: how many iterations ran before this one, None where that is not a polynomial."""

    poly: Poly
    trips: Poly | None
    stop: Poly | None
    dtype: str


def counter(name: str, number: int, start: Poly, stop: Poly | None, step: Poly, dtype: str) -> Counter:
    if step == ONE:
        poly = symbols.loop(name, number, start, stop)
        return Counter(poly, poly - start, stop, dtype)
    trips = symbols.loop(f"{name}.trip", number, ZERO, None)
    if step.is_zero:
        return Counter(symbols.opaque(name, number), None, stop, dtype)
    return Counter(start + trips * step, trips, stop, dtype)


@dataclass
class Plan:
    """What carried names hold when an iteration begins; refined after each pass over the body."""

    number: int
    counter: Counter
    steps: dict[str, tuple[Poly, ...]] = field(default_factory=dict[str, tuple[Poly, ...]])
    started: dict[str, Value] = field(default_factory=dict[str, Value])

    def begin(self, carried: Sequence[str], before: Env, ended: Env | None) -> Env:
        found: Env = {}
        for name in carried:
            value, defs = before[name]
            refined = None if ended is None else self._refined(name, value, ended[name][0])
            start = _blurred(value, name, self.number) if refined is None else refined
            self.started[name] = start
            found[name] = (start, defs)
        return found

    def _refined(self, name: str, before: Value, ended: Value) -> Value:
        started = self.started[name]
        if started == before and ended == before:
            return before

        def one(first: Value, start: Value, end: Value) -> Value:
            if isinstance(first, Data):
                return _merged(first, end)
            a, b, c = _parts(first), _parts(start), _parts(end)
            if a is None or b is None or c is None or not len(a) == len(b) == len(c):
                return start
            if all(x == y for x, y in zip(a, c, strict=True)):
                return first
            moves = tuple(y - x for x, y in zip(b, c, strict=True))
            return self._stepped(name, first, start, a, moves)

        return distribute(one, before, started, ended)

    def _stepped(
        self, name: str, first: Value, start: Value, at: tuple[Poly, ...], moves: tuple[Poly, ...]
    ) -> Value:
        """first + moves * trips, where each move is the same in every iteration."""
        trips = self.counter.trips
        known = self.steps.get(name)
        if known is not None and known != moves:
            return start
        if trips is None or any(self._varies(move) for move in moves):
            return start
        self.steps[name] = moves
        return _with_parts(first, tuple(a + move * trips for a, move in zip(at, moves, strict=True)))

    def _varies(self, move: Poly) -> bool:
        """Whether a step may differ from trip to trip: it has a part that this loop's body made."""
        return any(symbol.newer(self.number) for symbol in move.symbols)


def _blurred(value: Value, name: str, number: int) -> Value:
    """The value of a name whose changes are not known yet: the same kind, an unknown amount further."""

    def one(item: Value) -> Value:
        if isinstance(item, Mask):
            return Mask(None, item.shape)
        parts = _parts(item)
        if parts is None:
            return item
        return _with_parts(
            item, tuple(p + symbols.opaque(f"{name}.{i}", number) for i, p in enumerate(parts))
        )

    return distribute(one, value)


def _parts(value: Value) -> tuple[Poly, ...] | None:
    """The polynomials of a value that a step can move."""
    if isinstance(value, Num):
        return (value.poly,)
    if isinstance(value, Ptr):
        return (value.offset,)
    return (value.base.offset, *value.offsets) if isinstance(value, BlockPtr) else None


def _with_parts(value: Value, parts: tuple[Poly, ...]) -> Value:
    if isinstance(value, Num):
        return Num(parts[0], value.shape, value.dtype if value.dtype != "weak" else "int32")
    if isinstance(value, Ptr):
        return Ptr(value.base, parts[0], value.shape)
    assert isinstance(value, BlockPtr)
    base = Ptr(value.base.base, parts[0], value.base.shape)
    return BlockPtr(base, value.shape, value.strides, parts[1:], value.block, value.order)


def _merged(first: Data, end: Value) -> Value:
    if not isinstance(end, Data):
        return first
    same = first.shape if first.shape == end.shape else broadcast(first.shape, end.shape)
    return Data(same, first.dtype if first.dtype == end.dtype else "?")
