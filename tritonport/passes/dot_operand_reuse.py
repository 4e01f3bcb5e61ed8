"""dot-operand-reuse: a left operand of tl.dot that is read again is handed in as a reload, else as a copy."""

from __future__ import annotations

from dataclasses import dataclass

import libcst as cst

from tritonport.engine.context import FileContext
from tritonport.engine.rule import RuleResult
from tritonport.facts.algebra import Access, Def, KernelFacts, accesses
from tritonport.facts.algebra.facts import argument
from tritonport.facts.algebra.values import Data, alternatives
from tritonport.passes.kernels import kernels
from tritonport.passes.syntax import plus, replace
from tritonport.record import RuleClass


class DotOperandReuse:
    """The target's cube unit may overwrite the left operand of a product in place."""

    slug = "dot-operand-reuse"
    rule_class: RuleClass = "exact"

    def run(self, file: FileContext) -> RuleResult:
        result = RuleResult()
        for kernel in kernels(file):
            _protect(file, kernel.facts, result, kernel.key)
        return result


def _protect(file: FileContext, facts: KernelFacts, result: RuleResult, kernel: str) -> None:
    found = accesses(facts)
    for dot in facts.calls_of("dot"):
        operand = _held(argument(dot, 0, "input"))
        if operand is None or not _read_later(facts, operand, dot):
            continue
        if not _is_data(facts, operand):
            if facts.explain(operand) is not None:
                replace(result, operand, _copy(facts, operand), kernel)
            continue
        loaded = _reload(facts, operand, dot, found, _Memory(file, kernel))
        replace(result, operand, loaded or _copy(facts, operand), kernel)


def _copy(facts: KernelFacts, operand: cst.Name) -> cst.BaseExpression:
    """A tile of its own; with a whole zero it keeps its type, whatever that is."""
    copy = plus(operand, cst.Integer("0"))
    if isinstance(facts.parents[operand], cst.Arg):
        return copy
    return copy.with_changes(lpar=[cst.LeftParen()], rpar=[cst.RightParen()])


def _held(operand: cst.BaseExpression | None) -> cst.Name | None:
    """The name whose tile a product takes; a cast to the dtype that it has already is no copy."""
    while isinstance(operand, cst.Call) and isinstance(operand.func, cst.Attribute):
        if operand.func.attr.value != "to":
            return None
        operand = operand.func.value
    return operand if isinstance(operand, cst.Name) else None


def _is_data(facts: KernelFacts, name: cst.Name) -> bool:
    return any(isinstance(leaf, Data) for _, leaf in alternatives(facts.value(name)))


def _read_later(facts: KernelFacts, operand: cst.Name, dot: cst.Call) -> bool:
    """Whether a tile is read after the product: further down, or in the next trip of a loop around it."""
    return any(_reads_after(facts, d, operand, dot) for d in facts.reads.get(operand, frozenset[Def]()))


def _reads_after(facts: KernelFacts, definition: Def, operand: cst.Name, dot: cst.Call) -> bool:
    around = [loop for loop in facts.loops[dot] if loop not in facts.loops.get(definition.target, ())]
    for use in facts.uses(definition):
        if _asks_for_dtype(facts, use) or _excluded(facts, use, dot):
            continue
        if facts.order[use] > facts.order[dot]:
            return True
        if any(loop in facts.loops[use] for loop in around):
            return True
    return False


def _excluded(facts: KernelFacts, use: cst.Name, dot: cst.Call) -> bool:
    """Whether a use and the product stand in different branches of one constexpr test."""
    here = facts.tests[dot]
    return any(here.get(test, outcome) != outcome for test, outcome in facts.tests[use].items())


def _asks_for_dtype(facts: KernelFacts, use: cst.Name) -> bool:
    parent = facts.parents.get(use)
    return isinstance(parent, cst.Attribute) and parent.attr.value == "dtype"


@dataclass(frozen=True)
class _Memory:
    """The memory that launches of one kernel pass."""

    file: FileContext
    kernel: str

    def shared(self, store: Access, load: Access) -> bool:
        """Whether a store through another parameter may write what a load reads."""
        asked = ((written, read) for written in store.bases for read in load.bases)
        return any(self.file.launch_memory.overlap(self.kernel, a, b) for a, b in asked)


def _reload(
    facts: KernelFacts, operand: cst.Name, dot: cst.Call, found: tuple[Access, ...], memory: _Memory
) -> cst.BaseExpression | None:
    """The load that filled a tile, where it would give the same tile again."""
    defs = facts.reads[operand]
    if len(defs) != 1:
        return None
    (definition,) = defs
    access = next((a for a in found if a.node is _load_in(definition.expr)), None)
    if access is None or not facts.same_at(definition, operand):
        return None
    stores = [a for a in found if a.kind != "load"]
    if any(a.why is not None or not a.bases.isdisjoint(access.bases) for a in stores):
        return None
    between = (store for store in stores if _between(facts, access.node, store.node, dot))
    return None if any(memory.shared(store, access) for store in between) else definition.expr


def _between(facts: KernelFacts, load: cst.CSTNode, store: cst.CSTNode, dot: cst.Call) -> bool:
    """Whether a store may run after a load and before a product: between them, or in a trip of a loop around the
    product before."""
    again = [loop for loop in facts.loops[dot] if loop not in facts.loops[load]]
    follows = facts.order[load] < facts.order[store] < facts.order[dot]
    return follows or any(loop in facts.loops[store] for loop in again)


def _load_in(expr: cst.BaseExpression | None) -> cst.BaseExpression | None:
    """The call behind a transposition and casts."""
    while isinstance(expr, cst.Call) and isinstance(expr.func, cst.Attribute):
        if expr.func.attr.value == "trans" and len(expr.args) == 1:
            expr = expr.args[0].value
        elif expr.func.attr.value == "to":
            expr = expr.func.value
        else:
            break
    return expr


RULE = DotOperandReuse()
