"""How a value of a kernel depends on one tile size: what the analysis of `tile_meaning` knows of it."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass, replace
from typing import Literal

from tritonport.facts.algebra.poly import Poly

Kind = Literal["free", "point", "part", "lanes", "tile"]
ZERO, LOWEST, HIGHEST = "0", "-inf", "inf"
_OPPOSITE = {LOWEST: HIGHEST, HIGHEST: LOWEST, ZERO: ZERO}
NEUTRAL = {"sum": ZERO, "max": LOWEST, "min": HIGHEST}
"""What a lane behind the end of the axis must hold for a reduction not to see it."""


@dataclass(frozen=True)
class State:
    """One value, for one tile size.

    free: the same for every size and in every tile. point: each lane depends on its position on the axis alone.
    part: `how` (sum, max, min) of the positions of one tile, so that only the same over all tiles means something.
    lanes: `how` over all tiles, lane by lane. tile: anything else; `why` says what made it so.
    at: number of the tile that the positions are in. pad: what lanes behind the end of the axis hold, where known.
    """

    kind: Kind
    at: Poly | None = None
    pad: str | None = None
    how: str = ""
    why: str = ""


FREE = State("free")


def tile(why: str) -> State:
    return State("tile", why=why)


def join(states: Iterable[State], why: str) -> State:
    """One of several values: what holds for all of them."""
    found = list(dict.fromkeys(states))
    if len(found) == 1:
        return found[0]
    pads = {state.pad for state in found}
    return replace(elementwise(found, why), pad=pads.pop() if len(pads) == 1 else None)


def elementwise(states: Iterable[State], why: str) -> State:
    """What is computed lane by lane from several values; nothing is known of its padding."""
    found = list(states)
    bad = next((state for state in found if state.kind == "tile"), None)
    if bad is not None:
        return bad
    if any(state.kind in ("part", "lanes") for state in found):
        return tile(why)
    places = {state.at for state in found if state.kind == "point"}
    if len(places) > 1:
        return tile(why)
    return State("point", places.pop()) if places else FREE


def binary(op: str, left: State, right: State, why: str) -> State:
    """left op right. A sum over one tile may be scaled, and added to another of the same tile."""
    if left.kind == "part" or right.kind == "part":
        return _of_parts(op, left, right) or elementwise((left, right), why)
    return replace(elementwise((left, right), why), pad=_pad(op, left, right))


def _of_parts(op: str, left: State, right: State) -> State | None:
    scaled = (op == "*" and "free" in (left.kind, right.kind)) or (op == "/" and right.kind == "free")
    part = left if left.kind == "part" else right
    both = op in ("+", "-") and left.kind == right.kind and left.at == right.at and left.how == right.how
    return part if part.how == "sum" and (scaled or both) else None


def _pad(op: str, left: State, right: State) -> str | None:
    if op == "*":
        known = [(a, b) for a, b in ((left, right), (right, left)) if a.pad == ZERO]
        return ZERO if any(b.kind == "free" or b.pad == ZERO for _, b in known) else None
    if op == "/":
        return ZERO if left.pad == ZERO and right.kind == "free" else None
    if op in ("+", "-") and left.pad == ZERO and right.pad == ZERO:
        return ZERO
    if (
        op in ("+", "-")
        and left.pad in (LOWEST, HIGHEST)
        and right.kind == "free"
        and right.pad in (None, ZERO)
    ):
        return left.pad
    return LOWEST if op == "+" and right.pad == LOWEST and left.kind == "free" and left.pad is None else None


def negated(state: State) -> State:
    if state.kind == "part":
        return state if state.how == "sum" else tile(state.why)
    return replace(state, pad=_OPPOSITE.get(state.pad or ""))


def reduced(name: str, state: State, why: str) -> State:
    """A reduction along the axis of the tile."""
    if state.kind == "lanes":
        return FREE if state.how == name else tile(why)
    if state.kind == "point" and name in NEUTRAL and state.pad == NEUTRAL[name]:
        return State("part", state.at, how=name)
    return state if state.kind == "tile" else tile(why)
