"""What a load gives, for one tile size: by where it reads, and by what stands behind the end of the axis."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace

import libcst as cst

from tritonport.facts.algebra import Access, KernelFacts, accesses
from tritonport.facts.algebra.facts import argument
from tritonport.facts.algebra.values import Bound, Num
from tritonport.facts.tile_positions import Positions
from tritonport.facts.tile_states import FREE, ZERO, State, elementwise, tile
from tritonport.facts.walk import code_of


class Loads:
    """The loads of one kernel. state: what an expression is, such as a pointer or a mask."""

    def __init__(
        self, facts: KernelFacts, places: Positions, state: Callable[[cst.BaseExpression], State]
    ) -> None:
        self.facts, self.places, self._state = facts, places, state
        self._accesses = {access.node: access for access in accesses(facts)}

    def of(self, node: cst.Call) -> State:
        access = self._accesses.get(node)
        if access is None:
            return tile(not_followed(node))
        where = self._state(access.pointer)
        others = [self._state(part) for part in (access.mask, access.other) if part is not None]
        state = elementwise((where, *others), not_followed(node))
        if state.kind == "free":
            return FREE
        value = self.facts.value(node)
        if isinstance(value, Num):
            self.places.loaded |= value.poly.symbols
        if state.kind == "tile":
            return state
        pad = self.bounded(access, where)
        return (
            tile(f"`{code_of(node)}` is not masked by the size of the axis")
            if pad is None
            else replace(state, pad=pad or None)
        )

    def bounded(self, access: Access, where: State) -> str | None:
        """What a masked load holds behind the end of the axis ("" for anything); None where it has no such mask."""
        inside = access.why is None and bool(access.addresses)
        for address in access.addresses:
            inside = inside and self._within(address.bounds, where)
        if not inside:
            return None
        if any(address.block is not None for address in access.addresses):
            option = argument(access.node, 4, "padding_option")
            return ZERO if option is None or code_of(option).strip("'\"") in ("", "zero") else ""
        return "" if access.other is None else self._state(access.other).pad or ""

    def _within(self, bounds: tuple[Bound, ...] | None, where: State) -> bool:
        return bounds is not None and where.kind == "point" and self.places.holds(bounds, where.at)


def not_followed(node: cst.CSTNode) -> str:
    """The reason for an expression that the analysis does not follow."""
    return f"`{code_of(node)}` is not followed"
