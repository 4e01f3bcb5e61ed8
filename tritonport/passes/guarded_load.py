"""guarded-load: a load in one arm of `tl.where` reads only the lanes that the condition takes from it.

Both arms of `tl.where` are evaluated: the condition does not keep the load from addresses that it was meant to avoid.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

import libcst as cst

from tritonport.engine.context import FileContext
from tritonport.engine.rule import RuleResult
from tritonport.facts.algebra import Access, Def, KernelFacts, Poly, accesses
from tritonport.facts.algebra.facts import argument
from tritonport.facts.algebra.values import Mask, Shape, broadcast, shape_of
from tritonport.facts.walk import code_of, names_in
from tritonport.passes.guards import (
    conjuncts,
    is_loaded,
    names_of_address,
    negative_indices,
    one_value,
    proofs,
)
from tritonport.passes.kernels import kernels
from tritonport.passes.syntax import wrapped
from tritonport.record import RuleClass

_FLIPPED: dict[type[cst.CSTNode], type[cst.BaseCompOp]] = {
    cst.LessThan: cst.GreaterThanEqual,
    cst.LessThanEqual: cst.GreaterThan,
    cst.GreaterThan: cst.LessThanEqual,
    cst.GreaterThanEqual: cst.LessThan,
    cst.Equal: cst.NotEqual,
    cst.NotEqual: cst.Equal,
}
_LANEWISE = frozenset({"exp", "exp2", "log", "log2", "sqrt", "rsqrt", "abs", "sigmoid", "cast"})
_COMMA = cst.Comma(whitespace_after=cst.SimpleWhitespace(" "))
_EQUAL = cst.AssignEqual(cst.SimpleWhitespace(""), cst.SimpleWhitespace(""))


class GuardedLoad:
    """Adds the condition to the load's mask; the `tl.where` stays, so that every lane keeps its value."""

    slug = "guarded-load"
    rule_class: RuleClass = "exact"

    def run(self, file: FileContext) -> RuleResult:
        result = RuleResult()
        for kernel in kernels(file):
            _guard(kernel.facts, result, kernel.key)
        return result


@dataclass(frozen=True)
class _Arm:
    """A load that one arm of a `tl.where` holds. chosen: whether the condition takes the lanes of this arm."""

    where: cst.Call
    condition: cst.BaseExpression
    access: Access
    chosen: bool


def _guard(facts: KernelFacts, result: RuleResult, kernel: str) -> None:
    for arm in _arms(facts):
        if not _needed(facts, arm):
            continue
        why = _obstacle(facts, arm)
        if why is not None:
            result.unresolved(arm.where, why, kernel=kernel)
            continue
        guard = _guard_text(facts, arm)
        result.rewrite(arm.access.node, lambda node, guard=guard: _masked(node, guard), kernel=kernel)


def _arms(facts: KernelFacts) -> Iterator[_Arm]:
    found = {access.node: access for access in accesses(facts) if access.kind == "load"}
    for where in facts.calls_of("where"):
        condition = argument(where, 0, "condition")
        for position, name in ((1, "x"), (2, "y")):
            arm = argument(where, position, name)
            loads = _loads(facts, arm, found) if arm is not None and condition is not None else ()
            for access in loads:
                assert condition is not None
                yield _Arm(where, condition, access, chosen=position == 1)


def _loads(facts: KernelFacts, node: cst.BaseExpression, found: dict[cst.Call, Access]) -> Iterator[Access]:
    """Loads whose lanes are those of the arm: under arithmetic and lane-wise functions, or by a name of one use."""
    if isinstance(node, cst.Call):
        if node in found:
            yield found[node]
        elif isinstance(node.func, cst.Attribute) and node.func.attr.value == "to":
            yield from _loads(facts, node.func.value, found)
        elif facts.calls.get(node, "").removeprefix("triton.language.") in _LANEWISE and node.args:
            yield from _loads(facts, node.args[0].value, found)
    elif isinstance(node, cst.BinaryOperation):
        yield from _loads(facts, node.left, found)
        yield from _loads(facts, node.right, found)
    elif isinstance(node, cst.UnaryOperation):
        yield from _loads(facts, node.expression, found)
    elif isinstance(node, cst.Name):
        defs = facts.reads.get(node, frozenset[Def]())
        (only,) = defs if len(defs) == 1 else (None,)
        if (
            only is not None
            and only.kind == "assign"
            and only.expr is not None
            and facts.uses(only) == [node]
        ):
            yield from _loads(facts, only.expr, found)


def _needed(facts: KernelFacts, arm: _Arm) -> bool:
    """Whether the condition keeps out lanes whose address may be outside the tensor."""
    if _is_guarded(facts, arm):
        return False
    condition = facts.value(arm.condition)
    guards = proofs(condition, holds=arm.chosen)
    mask = arm.access.mask
    own = proofs(facts.value(mask)) if mask is not None else ()
    guarded_already = {index.node for index in negative_indices(facts, arm.access, own)}
    kept_out = negative_indices(facts, arm.access, guards)
    if any(index.node not in guarded_already for index in kept_out) or _on_loaded_index(facts, arm):
        return True
    open_address = mask is None and _is_plain(arm.access) and not _is_of_other_things(facts, arm)
    return open_address and _limits_at_run_time(facts, arm)


def _is_plain(access: Access) -> bool:
    """Whether an address is understood, and nothing in it was clamped: the source has not made it safe itself."""
    whole = [address.scalar + address.rest for address in access.addresses]
    clamped = any(s.kind == "op" and s.key.startswith(("min", "max")) for poly in whole for s in poly.symbols)
    return access.why is None and not access.checked and not clamped


def _is_of_other_things(facts: KernelFacts, arm: _Arm) -> bool:
    """Whether the condition chooses lanes by values that the address of a single element does not hold."""
    condition = one_value(facts.value(arm.condition))
    if not isinstance(condition, Mask) or condition.bounds is None or not condition.shape:
        return False
    asked = {symbol for bound in condition.bounds for symbol in (bound.left - bound.right).symbols}
    return all(not a.shape and not (a.scalar + a.rest).symbols & asked for a in arm.access.addresses)


def _on_loaded_index(facts: KernelFacts, arm: _Arm) -> bool:
    """Whether the condition is about an index of the address that was loaded itself (`idx < 0`)."""
    used = {(name.value, facts.reads[name]) for name, _ in names_of_address(facts, arm.access.pointer)}
    loaded = [n for n in names_in(arm.condition) if n in facts.reads and is_loaded(facts.value(n))]
    return any((name.value, facts.reads[name]) in used for name in loaded)


def _limits_at_run_time(facts: KernelFacts, arm: _Arm) -> bool:
    """Whether a condition compares with something that only the launch knows (a size, a loaded index)."""
    value = one_value(facts.value(arm.condition))
    if not isinstance(value, Mask) or value.bounds is None:
        return True
    return any(_run_time(bound.left) or _run_time(bound.right) for bound in value.bounds)


def _run_time(poly: Poly) -> bool:
    return any(symbol.kind in ("param", "load", "opaque", "join") for symbol in poly.symbols)


def _is_guarded(facts: KernelFacts, arm: _Arm) -> bool:
    if arm.access.mask is None:
        return False
    wanted = code_of(_guard_text(facts, arm))
    parts = [code_of(part.with_changes(lpar=[], rpar=[])) for part in conjuncts(facts, arm.access.mask)]
    return wanted in parts


def _obstacle(facts: KernelFacts, arm: _Arm) -> str | None:
    if any(address.block is not None for address in arm.access.addresses):
        return (
            "a block pointer takes no mask: check its boundary, or load by offsets with the condition as mask"
        )
    tile, condition = _shape(facts, arm.access.pointer), shape_of(facts.value(arm.condition))
    if tile is None or condition is None or len(condition) > len(tile) or broadcast(tile, condition) != tile:
        return "the condition has another shape than the load: load the tile with the condition as mask"
    before = facts.order[arm.access.node]
    for name in names_in(arm.condition):
        if any(facts.order.get(d.target, 0) > before for d in facts.reads.get(name, ()) if d.kind != "param"):
            return (
                f"`{name.value}` of the condition is not known at the load: load with the condition as mask"
            )
    return None


def _shape(facts: KernelFacts, node: cst.BaseExpression) -> Shape | None:
    """The shape of an address, also of one with a loaded index in it."""
    known = shape_of(facts.value(node))
    if known is None and isinstance(node, cst.BinaryOperation):
        return broadcast(_shape(facts, node.left), _shape(facts, node.right))
    return known


def _guard_text(facts: KernelFacts, arm: _Arm) -> cst.BaseExpression:
    """The condition under which the load's lanes are wanted."""
    node = arm.condition.with_changes(lpar=[], rpar=[])
    if arm.chosen:
        return node
    if isinstance(node, cst.Comparison) and len(node.comparisons) == 1 and _integers(facts, arm):
        target = node.comparisons[0]
        flipped = _FLIPPED.get(type(target.operator))
        if flipped is not None:
            return node.with_changes(comparisons=[target.with_changes(operator=flipped())])
    return cst.UnaryOperation(cst.BitInvert(), wrapped(node))


def _integers(facts: KernelFacts, arm: _Arm) -> bool:
    """Whether a compare is over integers: `not a < b` is `a >= b` for them, not for a NaN."""
    value = one_value(facts.value(arm.condition))
    return (isinstance(value, Mask) and value.bounds is not None) or _on_loaded_index(facts, arm)


def _masked(updated: cst.CSTNode, guard: cst.BaseExpression) -> cst.Call:
    """The load with a mask, or with one more condition on its mask."""
    node = cst.ensure_type(updated, cst.Call)
    for index, arg in enumerate(node.args):
        if (arg.keyword is not None and arg.keyword.value == "mask") or (arg.keyword is None and index == 1):
            both = cst.BinaryOperation(_bracketed(arg.value), cst.BitAnd(), _bracketed(guard.deep_clone()))
            args = [*node.args[:index], arg.with_changes(value=both), *node.args[index + 1 :]]
            return node.with_changes(args=args)
    last = node.args[-1].with_changes(comma=_COMMA)
    mask = cst.Arg(guard.deep_clone(), cst.Name("mask"), _EQUAL, comma=_COMMA)
    other = cst.Arg(cst.Integer("0"), cst.Name("other"), _EQUAL)
    return node.with_changes(args=[*node.args[:-1], last, mask, other])


def _bracketed(node: cst.BaseExpression) -> cst.BaseExpression:
    """An operand of `&`, which binds tighter than a compare; an `&` of its own needs no brackets."""
    joined = isinstance(node, cst.BinaryOperation) and isinstance(node.operator, cst.BitAnd)
    return node if joined else wrapped(node)


RULE = GuardedLoad()
