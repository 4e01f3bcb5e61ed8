"""nested-sum: what an inner loop adds to a sum of products is summed apart where the loop around it adds to it too.

The target's compiler keeps a sum of products in the cube unit's memory through both loops. Where the outer loop's
product is made, by way of the vector unit, from what the inner loop gave, it fails to.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

import libcst as cst

from tritonport.engine.context import FileContext
from tritonport.engine.rule import RuleResult
from tritonport.facts.algebra import Def, KernelFacts
from tritonport.facts.naming import fresh
from tritonport.facts.walk import code_of, find, names_in, walk
from tritonport.passes.kernels import kernels
from tritonport.passes.syntax import replace
from tritonport.record import RuleClass

_DOT = "triton.language.dot"
_ZEROS = "triton.language.zeros"


@dataclass(frozen=True)
class _Sum:
    """A sum from zeros that both loops add to. inner: the inner loop."""

    name: str
    zeros: cst.Call
    inner: cst.For


class NestedSum:
    """Gives the inner loop zeros of its own, and adds what it made of them behind it."""

    slug = "nested-sum"
    rule_class: RuleClass = "reordered"

    def run(self, file: FileContext) -> RuleResult:
        result = RuleResult()
        for kernel in kernels(file):
            taken = {name.value for name in names_in(kernel.facts.function)}
            for loop in find(kernel.facts.function.body, cst.For):
                for found in _sums(kernel.facts, loop):
                    name = fresh(f"{found.name}_inner", taken)
                    taken.add(name)
                    _split(kernel.facts, found, name, result, kernel.key)
        return result


def _sums(facts: KernelFacts, inner: cst.For) -> Iterator[_Sum]:
    around = [loop for loop in facts.loops.get(inner.iter, ()) if loop is not inner]
    if not around or not isinstance(facts.parents[inner], cst.IndentedBlock):
        return
    inside = [d for d in facts.defs.values() if facts.loops.get(d.target, ())[-1:] == (inner,)]
    for name in dict.fromkeys(d.name for d in inside):
        both = [d for d in facts.defs_of(name) if around[-1] in facts.loops.get(d.target, ())]
        outer = [d for d in both if inner not in facts.loops[d.target]]
        zeros = _zeros(facts, name, around[-1], inner)
        if zeros is None or not outer or not all(_adds_product(facts, d) for d in both):
            continue
        alone = _reads(facts, name, around[-1]) == len(both)
        if alone and any(_depends(facts, d, inner) for d in outer):
            yield _Sum(name, zeros, inner)


def _zeros(facts: KernelFacts, name: str, loop: cst.CSTNode, inner: cst.For) -> cst.Call | None:
    """The zeros that a sum starts from, where they can be written again before the inner loop."""
    before = [d for d in facts.defs_of(name) if loop not in facts.loops.get(d.target, ())]
    starts = [d for d in before if facts.order.get(d.target, 0) < facts.order[inner.iter]]
    if len(starts) != 1 or not isinstance(starts[0].expr, cst.Call):
        return None
    same = facts.calls.get(starts[0].expr) == _ZEROS and facts.same_at(starts[0], inner.iter)
    return starts[0].expr if same else None


def _adds_product(facts: KernelFacts, definition: Def) -> bool:
    """`x = tl.dot(.., x)` or `x += tl.dot(..)`."""
    expr = definition.expr
    if not isinstance(expr, cst.Call) or facts.calls.get(expr) != _DOT:
        return False
    if definition.kind == "aug":
        return isinstance(definition.node, cst.AugAssign) and isinstance(
            definition.node.operator, cst.AddAssign
        )
    return any(isinstance(a.value, cst.Name) and a.value.value == definition.name for a in expr.args)


def _reads(facts: KernelFacts, name: str, loop: cst.CSTNode) -> int:
    """How often a loop reads a name; the target of `+=` is read too."""
    return sum(use.value == name and loop in facts.loops.get(use, ()) for use in facts.reads)


def _depends(facts: KernelFacts, definition: Def, inner: cst.For) -> bool:
    """Whether a product is made of what the inner loop assigned, sums of this name apart."""
    seen: set[Def] = set()
    asked = [definition]
    while asked:
        statement = asked.pop().node
        if isinstance(statement, cst.For):  # a loop's variable: its statement is the whole loop
            continue
        uses = [use for use in names_in(statement) if use.value != definition.name]
        sources = {d for use in uses for d in facts.reads.get(use, frozenset[Def]())} - seen
        if any(inner in facts.loops.get(d.target, ()) for d in sources):
            return True
        seen |= sources
        asked += [d for d in sources if d.kind != "param"]
    return False


def _split(facts: KernelFacts, found: _Sum, name: str, result: RuleResult, kernel: str) -> None:
    for node in walk(found.inner.body):
        if (
            isinstance(node, cst.Name)
            and node.value == found.name
            and (node in facts.reads or node in facts.defs)
        ):
            replace(result, node, node.with_changes(value=name), kernel, counts=False)
    code = code_of(found.zeros)
    result.rewrite(
        found.inner,
        lambda node: _surrounded(node, f"{name} = {code}", f"{found.name} += {name}"),
        kernel=kernel,
    )


def _surrounded(node: cst.CSTNode, before: str, behind: str) -> cst.FlattenSentinel[cst.CSTNode]:
    loop = cst.ensure_type(node, cst.For)
    first = cst.ensure_type(cst.parse_statement(before), cst.SimpleStatementLine)
    return cst.FlattenSentinel(
        [
            first.with_changes(leading_lines=loop.leading_lines),
            loop.with_changes(leading_lines=[]),
            cst.parse_statement(behind),
        ]
    )


RULE = NestedSum()
