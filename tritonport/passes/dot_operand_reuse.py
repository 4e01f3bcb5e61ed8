"""dot-operand-reuse: a left operand of tl.dot that is read again is handed in as a reload, else as a copy."""

from __future__ import annotations

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
            protect(kernel.facts, result, kernel.key)
        return result


def protect(facts: KernelFacts, result: RuleResult, kernel: str) -> None:
    """All edits of one kernel."""
    found = accesses(facts)
    for dot in facts.calls_of("dot"):
        operand = _held(argument(dot, 0, "input"))
        if operand is None or not _read_later(facts, operand, dot):
            continue
        if not _is_data(facts, operand):
            if facts.explain(operand) is not None:
                replace(result, operand, _copy_of_any(operand), kernel)
            continue
        loaded = _reload(facts, operand, dot, found)
        copy = plus(operand, cst.Float("0.0"))
        in_call = facts.parents[operand]
        bracketed = copy.with_changes(lpar=[cst.LeftParen()], rpar=[cst.RightParen()])
        replace(result, operand, loaded or (copy if isinstance(in_call, cst.Arg) else bracketed), kernel)


def _copy_of_any(operand: cst.Name) -> cst.BaseExpression:
    """A copy of a tile that the analysis does not follow: whatever its type, the copy has it too."""
    copy = plus(operand, cst.Float("0.0")).with_changes(lpar=[cst.LeftParen()], rpar=[cst.RightParen()])
    dtype = cst.Attribute(cst.Name(operand.value), cst.Name("dtype"))
    return cst.Call(cst.Attribute(copy, cst.Name("to")), [cst.Arg(dtype)])


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


def _reload(
    facts: KernelFacts, operand: cst.Name, dot: cst.Call, found: tuple[Access, ...]
) -> cst.BaseExpression | None:
    """The load that filled a tile, where it would give the same tile again."""
    defs = facts.reads[operand]
    if len(defs) != 1:
        return None
    (definition,) = defs
    access = next((a for a in found if a.node is _load_in(definition.expr)), None)
    if access is None or not facts.same_at(definition, operand):
        return None
    stores = [a for a in found if a.kind == "store"]
    if any(a.why is not None or not a.bases.isdisjoint(access.bases) for a in stores):
        return None
    return definition.expr


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
