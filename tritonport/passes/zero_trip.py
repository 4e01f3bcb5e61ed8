"""zero-trip: a sum of products whose loop may not run at all is zero afterwards, whatever the accumulator holds.

The target keeps such a sum in the cube unit's memory and sets it up with the first product of the loop.
"""

from __future__ import annotations

import libcst as cst

from tritonport.engine.context import FileContext
from tritonport.engine.rule import RuleResult
from tritonport.facts.algebra import Def, KernelFacts
from tritonport.facts.algebra.ops import number
from tritonport.facts.algebra.poly import ONE, lower_bound, nonnegative
from tritonport.facts.algebra.values import Num
from tritonport.facts.walk import code_of, find, names_in, walk
from tritonport.passes.guards import one_value
from tritonport.passes.kernels import kernels
from tritonport.passes.syntax import assign, call, wrapped
from tritonport.record import RuleClass

_RANGES = frozenset({"range", "triton.language.range"})
_DOT = "triton.language.dot"
_ZEROS = frozenset({"triton.language.zeros", "triton.language.zeros_like"})


class ZeroTrip:
    """Selects zero behind the loop where its bounds are known at run time only."""

    slug = "zero-trip"
    rule_class: RuleClass = "exact"

    def run(self, file: FileContext) -> RuleResult:
        result = RuleResult()
        for kernel in kernels(file):
            for loop in find(kernel.facts.function.body, cst.For):
                _guard(kernel.facts, loop, result, kernel.key)
        return result


def _guard(facts: KernelFacts, loop: cst.For, result: RuleResult, kernel: str) -> None:
    bounds = _bounds(facts, loop)
    if bounds is None or _surely_runs(facts, *bounds):
        return
    lines: list[cst.SimpleStatementLine] = []
    for name in dict.fromkeys(d.name for d in facts.defs.values() if loop in facts.loops.get(d.target, ())):
        if not _is_sum_of_products(facts, loop, name) or _is_guarded(facts, loop, name):
            continue
        moved = [n.value for part in bounds for n in names_in(part) if _assigned_in(facts, loop, n.value)]
        if moved:
            why = f"`{moved[0]}` changes in the loop: select zero behind it where the loop did not run (`{name}`)"
            result.unresolved(loop, why, kernel=kernel)
        else:
            lines.append(_select(name, *bounds))
    if lines:
        result.rewrite(loop, lambda old: cst.FlattenSentinel([old, *lines]), kernel=kernel)


def _select(name: str, start: cst.BaseExpression, stop: cst.BaseExpression) -> cst.SimpleStatementLine:
    """`acc = tl.where(stop > start, acc, 0)`, for sums of floats and of integers."""
    runs = cst.Comparison(wrapped(stop), [cst.ComparisonTarget(cst.GreaterThan(), wrapped(start))])
    chosen = call("tl.where", runs, cst.Name(name), cst.Integer("0"))
    return cst.SimpleStatementLine([assign(name, chosen)]).deep_clone()


def _bounds(facts: KernelFacts, loop: cst.For) -> tuple[cst.BaseExpression, cst.BaseExpression] | None:
    """(start, stop) of a loop that counts up."""
    if not isinstance(loop.iter, cst.Call) or facts.calls.get(loop.iter) not in _RANGES:
        return None
    args = [a.value for a in loop.iter.args if a.keyword is None]
    if len(args) == 3 and code_of(args[2]).startswith("-"):
        return None
    return (cst.Integer("0"), args[0]) if len(args) == 1 else (args[0], args[1])


def _surely_runs(facts: KernelFacts, start: cst.BaseExpression, stop: cst.BaseExpression) -> bool:
    """Whether the trips are decided when the kernel compiles, or there is at least one."""
    first, last = (one_value(number(facts.value(node))) for node in (start, stop))
    if code_of(start) == "0" and not isinstance(first, Num):
        return _constexpr_or_positive(last)
    if not isinstance(first, Num) or not isinstance(last, Num):
        return False
    if first.constexpr and last.constexpr:
        return True
    low = lower_bound(last.poly - first.poly - ONE)
    return low is not None and nonnegative(low)


def _constexpr_or_positive(last: object) -> bool:
    if not isinstance(last, Num):
        return False
    low = lower_bound(last.poly - ONE)
    return last.constexpr or (low is not None and nonnegative(low))


def _assigned_in(facts: KernelFacts, loop: cst.For, name: str) -> bool:
    return any(d.name == name and loop in facts.loops.get(d.target, ()) for d in facts.defs.values())


def _is_sum_of_products(facts: KernelFacts, loop: cst.For, name: str) -> bool:
    """Zero before the loop, and in it nothing but products added."""
    inside = [d for d in facts.defs.values() if d.name == name and loop in facts.loops.get(d.target, ())]
    if not inside or not all(_adds_product(facts, d) for d in inside):
        return False
    before = {
        d
        for use in find(loop.body, cst.Name)
        if use.value == name
        for d in facts.reads.get(use, frozenset[Def]())
    } | {d for d in inside if d.kind == "aug"}
    outside = [d for d in facts.defs.values() if d.name == name and d not in inside]
    start = [d for d in outside if facts.order.get(d.target, 0) < facts.order.get(loop.iter, 0)]
    late = [d for d in start if d is max(start, key=lambda d: facts.order.get(d.target, 0))]
    zero = bool(late) and isinstance(late[0].expr, cst.Call) and facts.calls.get(late[0].expr) in _ZEROS
    return zero and bool(before)


def _adds_product(facts: KernelFacts, definition: Def) -> bool:
    expr = definition.expr
    if definition.kind == "aug":
        node = definition.node
        return (
            isinstance(node, cst.AugAssign)
            and isinstance(node.operator, cst.AddAssign)
            and _is_dot(facts, expr)
        )
    if isinstance(expr, cst.BinaryOperation) and isinstance(expr.operator, cst.Add):
        sides = (expr.left, expr.right)
        own = [s for s in sides if isinstance(s, cst.Name) and s.value == definition.name]
        return len(own) == 1 and any(_is_dot(facts, s) for s in sides)
    if isinstance(expr, cst.Call) and _is_dot(facts, expr):
        return any(isinstance(a.value, cst.Name) and a.value.value == definition.name for a in expr.args)
    return False


def _is_dot(facts: KernelFacts, node: cst.CSTNode | None) -> bool:
    return isinstance(node, cst.Call) and facts.calls.get(node) == _DOT


def _is_guarded(facts: KernelFacts, loop: cst.For, name: str) -> bool:
    """Whether the statement behind the loop selects for this name already."""
    body: list[cst.CSTNode] = list(getattr(facts.parents.get(loop), "body", ()))
    follows = body[next((i for i, node in enumerate(body) if node is loop), len(body)) + 1 :]
    return any(
        isinstance(node, cst.Assign)
        and any(isinstance(t.target, cst.Name) and t.target.value == name for t in node.targets)
        and isinstance(node.value, cst.Call)
        and facts.calls.get(node.value) == "triton.language.where"
        for statement in follows
        for node in walk(statement)
    )


RULE = ZeroTrip()
