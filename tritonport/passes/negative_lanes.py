"""negative-lanes: no address is formed for a lane that the mask keeps from being negative.

The target may touch a lane that is masked off. Where the compiler can take the mask as a slice of the transfer,
the mask gets that form; elsewhere (gathers, reversed tiles) the index is clamped at zero in the address.
"""

from __future__ import annotations

import libcst as cst

from tritonport.engine.context import FileContext
from tritonport.engine.rule import RuleResult
from tritonport.facts.algebra import Access, Def, KernelFacts, accesses
from tritonport.facts.walk import walk
from tritonport.passes.guards import (
    Index,
    loaded_indices,
    negative_indices,
    pointer_base,
    proofs,
)
from tritonport.passes.kernels import kernels
from tritonport.passes.slices import Edits, can_be_sliced, slicing
from tritonport.passes.syntax import call, minus, plus, replace
from tritonport.record import RuleClass


class NegativeLanes:
    """Lanes that the mask holds keep their address; the others get that of index zero."""

    slug = "negative-lanes"
    rule_class: RuleClass = "exact"

    def run(self, file: FileContext) -> RuleResult:
        result = RuleResult()
        for kernel in kernels(file):
            clamp_lanes(kernel.facts, result, kernel.key)
        return result


def clamp_lanes(facts: KernelFacts, result: RuleResult, kernel: str) -> None:
    """All edits of one kernel: an index that several accesses share is clamped where all of them guard it."""
    found = [a for a in accesses(facts) if a.mask is not None]
    wanted = {id(a): [*_indices(facts, a)] for a in found}
    done: set[cst.CSTNode] = set()
    for access in found:
        assert access.mask is not None
        indices = [index for index in wanted[id(access)] if index.node not in done]
        edits = slicing(facts, access.mask) if indices and can_be_sliced(access) else None
        if edits is not None:
            _slice(result, edits, done, kernel)
            continue
        for index in indices:
            done.add(index.node)
            if index.definition is not None and not _guarded_everywhere(facts, index, found, wanted):
                why = "the address is used without the mask as well: give the masked access an address of its own"
                result.unresolved(index.node, why, kernel=kernel)
            else:
                replace(result, index.node, _clamped(facts, index), kernel)


def _slice(result: RuleResult, edits: Edits, done: set[cst.CSTNode], kernel: str) -> None:
    """The mask as a slice: the compiler then never forms the address of a lane that is masked off."""
    for node, new in edits.items():
        if node not in done:
            done.add(node)
            replace(result, node, new, kernel)


def _indices(facts: KernelFacts, access: Access) -> list[Index]:
    assert access.mask is not None
    return [
        *negative_indices(facts, access, proofs(facts.value(access.mask))),
        *loaded_indices(facts, access),
    ]


def _guarded_everywhere(
    facts: KernelFacts, index: Index, found: list[Access], wanted: dict[int, list[Index]]
) -> bool:
    """Whether every use of a named address is the address of an access that guards this index."""
    assert index.definition is not None
    guarded = {
        node
        for access in found
        if any(i.node is index.node for i in wanted[id(access)])
        for node in walk(access.pointer)
    }
    return all(use in guarded for use in _uses(facts, index.definition))


def _uses(facts: KernelFacts, definition: Def) -> list[cst.Name]:
    return facts.uses(definition)


def _clamped(facts: KernelFacts, index: Index) -> cst.BaseExpression:
    if index.except_value is not None:
        return call("tl.where", index.except_value, index.node, cst.Integer("0"))
    if not index.whole:
        return call("tl.maximum", index.node, cst.Integer("0"))
    base = pointer_base(facts, index.node)
    summed = _sum_without(facts, index.node, base)
    assert summed is not None
    new = plus(base, call("tl.maximum", summed, cst.Integer("0")))
    return new.with_changes(lpar=index.node.lpar, rpar=index.node.rpar)


def _sum_without(
    facts: KernelFacts, node: cst.BaseExpression, base: cst.BaseExpression
) -> cst.BaseExpression | None:
    """The summands of a pointer sum but for its pointer, in their order."""
    if node is base or not isinstance(node, cst.BinaryOperation):
        return None if node is base else node
    left, right = _sum_without(facts, node.left, base), _sum_without(facts, node.right, base)
    if left is None or right is None:
        return right if left is None else left
    return (minus if isinstance(node.operator, cst.Subtract) else plus)(left, right)


RULE = NegativeLanes()
