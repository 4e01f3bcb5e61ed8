"""carried-index: an index tile that a loop assigns again to what it was already gets a name of its own there.

Under its old name the tile is carried from trip to trip, and the target's compiler cannot see what addresses and masks
are made of.
"""

from __future__ import annotations

import libcst as cst

from tritonport.engine.context import FileContext
from tritonport.engine.rule import RuleResult
from tritonport.facts.algebra import Def, KernelFacts
from tritonport.facts.algebra.values import Num
from tritonport.facts.naming import fresh
from tritonport.facts.walk import names_in
from tritonport.passes.kernels import kernels
from tritonport.passes.syntax import replace
from tritonport.record import RuleClass


class CarriedIndex:
    """Renames the assignment in the loop and what only it can have filled; what else reads the name finds the same."""

    slug = "carried-index"
    rule_class: RuleClass = "exact"

    def run(self, file: FileContext) -> RuleResult:
        result = RuleResult()
        for kernel in kernels(file):
            taken = {name.value for name in names_in(kernel.facts.function)}
            renamed: set[Def] = set()
            for definition in kernel.facts.defs.values():
                if _is_carried(kernel.facts, definition, renamed):
                    name = fresh(f"{definition.name}_", taken)
                    taken.add(name)
                    renamed.add(definition)
                    _rename(kernel.facts, definition, name, result, kernel.key)
        return result


def _is_carried(facts: KernelFacts, definition: Def, renamed: set[Def]) -> bool:
    """Whether an index tile assigned in a loop may be read where its value of before the loop may be read too, and
    the two are the same, as is every other value that the assignment may take the place of."""
    if definition.kind != "assign" or not facts.loops.get(definition.target):
        return False
    value = facts.value(definition.target)
    if not isinstance(value, Num) or not value.shape:
        return False
    others = {other for use in facts.uses(definition) for other in facts.reads[use]} - {definition}
    before = _may_reach(facts, definition)
    stays = any(_always_before(facts, other, definition) for other in before if other not in renamed)
    return bool(others) and stays and all(facts.value(d.target) == value for d in [*others, *before])


def _may_reach(facts: KernelFacts, definition: Def) -> list[Def]:
    """Other assignments of the name that may hold where this one stands: earlier in the text, or in a loop of both."""
    end, loops = facts.order[definition.target], set(facts.loops[definition.target])
    return [
        other
        for other in facts.defs_of(definition.name)
        if other is not definition
        and (facts.order.get(other.target, 0) < end or loops & set(facts.loops.get(other.target, ())))
    ]


def _always_before(facts: KernelFacts, other: Def, definition: Def) -> bool:
    """Whether every way to a definition leads through another: it stands earlier in a block around it."""
    block = facts.enclosing(other.node, cst.BaseSuite)
    at: cst.CSTNode | None = definition.node
    while at is not None and at is not block:
        at = facts.enclosing(at, cst.BaseSuite)
    return at is not None and facts.order.get(other.target, 0) < facts.order[definition.target]


def _rename(facts: KernelFacts, definition: Def, name: str, result: RuleResult, kernel: str) -> None:
    replace(result, definition.target, cst.Name(name), kernel)
    for use in facts.uses(definition):
        if facts.reads[use] == frozenset({definition}):
            replace(result, use, use.with_changes(value=name), kernel, counts=False)


RULE = CarriedIndex()
