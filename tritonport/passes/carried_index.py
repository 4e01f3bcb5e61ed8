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
            for definition in kernel.facts.defs.values():
                if _is_carried(kernel.facts, definition):
                    name = fresh(f"{definition.name}_", taken)
                    taken.add(name)
                    _rename(kernel.facts, definition, name, result, kernel.key)
        return result


def _is_carried(facts: KernelFacts, definition: Def) -> bool:
    """Whether an index tile assigned in a loop may be read where its value of before the loop may be read too, and
    the two are the same."""
    if definition.kind != "assign" or not facts.loops.get(definition.target):
        return False
    value = facts.value(definition.target)
    if not isinstance(value, Num) or not value.shape:
        return False
    others = {other for use in facts.uses(definition) for other in facts.reads[use]} - {definition}
    return bool(others) and all(facts.value(other.target) == value for other in others)


def _rename(facts: KernelFacts, definition: Def, name: str, result: RuleResult, kernel: str) -> None:
    replace(result, definition.target, cst.Name(name), kernel)
    for use in facts.uses(definition):
        if facts.reads[use] == frozenset({definition}):
            replace(result, use, use.with_changes(value=name), kernel, counts=False)


RULE = CarriedIndex()
