"""Whether a kernel computes the same for every size of one tile: the proof that a tile may be changed.

`meaning` follows every value of the kernel (`tile_states`). The proof holds where each store writes what depends on
its own position alone, to that position, and where what is reduced along the tile only reaches a sum (maximum, minimum)
over all tiles of the axis, in a loop that walks them all. Whatever the analysis does not follow counts as dependent.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass

import libcst as cst

from tritonport.facts.algebra import Access, Address, KernelFacts, Poly, accesses
from tritonport.facts.tile_accumulators import Accumulators
from tritonport.facts.tile_positions import Positions
from tritonport.facts.tile_states import FREE
from tritonport.facts.tile_values import Values
from tritonport.facts.walk import code_of, find

_SILENT = frozenset(
    f"triton.language.{name}"
    for name in ("store", "debug_barrier", "device_assert", "static_assert", "static_print", "device_print")
)
_MEMORY = "triton.language.store"


@dataclass(frozen=True, slots=True)
class Meaning:
    """why: what makes the size part of the result, None where it is proved not to be.

    programs: axes of the grid whose program id is the number of the tile. The proof takes for granted that every launch
    has a program for every tile there.
    """

    why: str | None
    programs: frozenset[int] = frozenset()


def meaning(facts: KernelFacts, name: str, dependent: Iterable[str] = ()) -> Meaning:
    """name: the tile's parameter. dependent: parameters whose argument the host makes with the tile's size."""
    places = Positions(facts, name, frozenset(dependent))
    values = Values(facts, places, Accumulators(facts, places))
    values.settle()
    return Meaning(_Sinks(facts, places, values).why(), places.programs)


class _Sinks:
    """Where a value of a kernel has an effect: stores, branches, loops."""

    def __init__(self, facts: KernelFacts, places: Positions, values: Values) -> None:
        self.facts, self.places, self.values = facts, places, values

    def why(self) -> str | None:
        for found in (self._calls(), self._branches(), self._loops(), self._memory()):
            if found is not None:
                return found
        return None

    def _calls(self) -> str | None:
        for call in find(self.facts.function.body, cst.Call):
            if call not in self.facts.order:
                continue
            name = self.facts.calls.get(call, "")
            if call in self.facts.mixing:
                return f"`{code_of(call)}` is not followed"
            if "atomic" in name:
                return f"`{code_of(call)}` is done once per tile"
            alone = isinstance(self.facts.parents.get(call), cst.Expr)
            if alone and name not in _SILENT:
                return f"`{code_of(call)}` is not followed"
        return None

    def _branches(self) -> str | None:
        for node in find(self.facts.function.body, cst.If):
            state = self.values.of(node.test) if node.test in self.facts.order else FREE
            if state.kind != "free" and not self._first_tile_stores(node):
                return state.why or f"`if {code_of(node.test)}` is decided by tile"
        return None

    def _first_tile_stores(self, node: cst.If) -> bool:
        """`if i_d == 0:` around stores of what is the same in every tile."""
        if node.orelse is not None or not self.places.is_first(node.test):
            return False
        calls = [call for call in find(node.body, cst.Call) if call in self.facts.order]
        lines = [s for line in node.body.body for s in getattr(line, "body", [line])]
        stores = [c for c in calls if self.facts.calls.get(c) == _MEMORY]
        return len(stores) == len(lines) and all(isinstance(line, cst.Expr) for line in lines)

    def _loops(self) -> str | None:
        for loop in find(self.facts.function.body, cst.For):
            if loop.iter in self.facts.order or any(a in self.facts.order for a in _arguments(loop.iter)):
                states = [self.values.of(a) for a in _arguments(loop.iter)]
                if loop not in self.places.loops and any(s.kind != "free" for s in states):
                    return f"`for .. in {code_of(loop.iter)}` does not walk the tiles of the axis"
        for loop in find(self.facts.function.body, cst.While):
            if loop.test in self.facts.order and self.values.of(loop.test).kind != "free":
                return f"`while {code_of(loop.test)}` is decided by tile"
        return None

    def _memory(self) -> str | None:
        found = accesses(self.facts)
        stores = [access for access in found if access.kind == "store"]
        for access in stores:
            why = self._store(access)
            if why is not None:
                return why
        return self._apart(found, stores)

    def _store(self, access: Access) -> str | None:
        where = self.values.of(access.pointer)
        stored = FREE if access.stored is None else self.values.of(access.stored)
        mask = FREE if access.mask is None else self.values.of(access.mask)
        for state in (where, stored, mask):
            if state.kind not in ("free", "point"):
                return state.why or f"`{code_of(access.node)}` stores what one tile has summed"
        if where.kind == "free":
            same = stored.kind == mask.kind == "free"
            return None if same else f"`{code_of(access.node)}` stores every tile to one place"
        if any(state.kind == "point" and state.at != where.at for state in (stored, mask)):
            return f"`{code_of(access.node)}` brings two tiles together"
        if self.values.loads.bounded(access, where) is None:
            return f"`{code_of(access.node)}` is not masked by the size of the axis"
        return None

    def _apart(self, found: tuple[Access, ...], stores: list[Access]) -> str | None:
        """What is stored is not read at another position, in whatever tile that is."""
        written = {base for access in stores for base in access.bases}
        for base in sorted(written):
            touching = [access for access in found if base in access.bases]
            places = {_place(a) for access in touching for a in access.addresses if a.base == base}
            states = {self.values.of(access.pointer).kind for access in touching}
            read = any(access.kind == "load" for access in touching)
            if read and (len(places) > 1 or states != {"point"}):
                return f"`{base}` is read and written at several places"
        return None


def _place(address: Address) -> tuple[Poly, tuple[Poly, ...], Poly]:
    return address.scalar, address.strides, address.rest


def _arguments(node: cst.BaseExpression) -> list[cst.BaseExpression]:
    return [arg.value for arg in node.args] if isinstance(node, cst.Call) else [node]
