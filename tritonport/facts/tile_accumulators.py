"""Names that a loop over tiles adds to (or takes the maximum or minimum of) and does nothing else with."""

from __future__ import annotations

from dataclasses import dataclass

import libcst as cst

from tritonport.facts.algebra import Def, KernelFacts
from tritonport.facts.algebra.facts import argument
from tritonport.facts.tile_positions import Positions

_EXTREMES = {"minimum": "min", "maximum": "max", "min": "min", "max": "max"}


@dataclass(frozen=True, slots=True)
class Update:
    """One `acc = acc + x`. own: the read of acc in it; operand: x (for `tl.dot(a, b, acc)` the call itself)."""

    how: str
    own: cst.Name
    operand: cst.BaseExpression
    loop: cst.CSTNode
    before: frozenset[Def]
    """The assignments outside of the loop that it starts from."""


class Accumulators:
    """The updates of one kernel, by their definition."""

    def __init__(self, facts: KernelFacts, places: Positions) -> None:
        self.facts, self.places = facts, places
        self.updates: dict[Def, Update] = {}
        for definition in facts.defs.values():
            loops = [loop for loop in facts.loops.get(definition.target, ()) if loop in places.loops]
            if len(loops) == 1 and (update := self._update(definition, loops[0])) is not None:
                self.updates[definition] = update
        while (bad := self._broken()) is not None:
            del self.updates[bad]

    def _update(self, definition: Def, loop: cst.CSTNode) -> Update | None:
        found = self._parts(definition)
        if found is None or found[1].value != definition.name or found[1] not in self.facts.reads:
            return None
        how, own, operand = found
        reads = self.facts.reads[own]
        before = frozenset(d for d in reads if loop not in self.facts.loops.get(d.target, ()))
        return Update(how, own, operand, loop, before) if before else None

    def _parts(self, definition: Def) -> tuple[str, cst.Name, cst.BaseExpression] | None:
        expr = definition.expr
        if definition.kind == "aug" and isinstance(definition.node, cst.AugAssign) and expr is not None:
            is_sum = isinstance(definition.node.operator, cst.AddAssign)
            return ("sum", definition.target, expr) if is_sum else None
        if isinstance(expr, cst.BinaryOperation) and isinstance(expr.operator, cst.Add):
            return _sides("sum", definition.name, expr.left, expr.right)
        if not isinstance(expr, cst.Call):
            return None
        name = self.facts.calls.get(expr, "").removeprefix("triton.language.")
        if name == "dot":
            own = argument(expr, 2, "acc")
            return ("sum", own, expr) if isinstance(own, cst.Name) else None
        plain = [arg.value for arg in expr.args if arg.keyword is None and not arg.star]
        if name in _EXTREMES and len(plain) == len(expr.args) == 2:
            return _sides(_EXTREMES[name], definition.name, *plain)
        return None

    def _broken(self) -> Def | None:
        """An update whose name the loop also assigns, or reads, in another way."""
        for definition, update in self.updates.items():
            inside = [
                d
                for d in self.facts.defs_of(definition.name)
                if update.loop in self.facts.loops.get(d.target, ())
            ]
            alike = all(d in self.updates and self.updates[d].how == update.how for d in inside)
            owns = {self.updates[d].own for d in inside if d in self.updates}
            reads = {
                use
                for d in inside
                for use in self.facts.uses(d)
                if update.loop in self.facts.loops.get(use, ())
            }
            if not alike or not reads <= owns:
                return definition
        return None


def _sides(
    how: str, name: str, left: cst.BaseExpression, right: cst.BaseExpression
) -> tuple[str, cst.Name, cst.BaseExpression] | None:
    for own, operand in ((left, right), (right, left)):
        if isinstance(own, cst.Name) and own.value == name:
            return how, own, operand
    return None
