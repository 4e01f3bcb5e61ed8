"""bool-mask: a loaded truth value becomes an explicit compare before it masks an access.

The target keeps what it loads from a tensor of booleans as bytes, and takes only single bits as a mask.
"""

from __future__ import annotations

import libcst as cst

from tritonport.engine.context import FileContext
from tritonport.engine.rule import RuleResult
from tritonport.facts.algebra import Def, KernelFacts, accesses
from tritonport.facts.algebra.values import Data, Num, Value, alternatives
from tritonport.passes.kernels import kernels
from tritonport.passes.syntax import replace
from tritonport.record import RuleClass

_LOGIC = (cst.BitAnd, cst.BitOr, cst.BitXor)


class BoolMask:
    """Compares each loaded part of a mask with zero. Upstream such a part is a boolean, or its front end refuses."""

    slug = "bool-mask"
    rule_class: RuleClass = "exact"

    def run(self, file: FileContext) -> RuleResult:
        result = RuleResult()
        for kernel in kernels(file):
            for node in _loaded_parts(kernel.facts):
                _compare(result, node, kernel.key)
        return result


def _loaded_parts(facts: KernelFacts) -> list[cst.BaseExpression]:
    """Parts of masks that were loaded, in evaluation order, each once."""
    found: dict[cst.BaseExpression, None] = {}
    for access in accesses(facts):
        if access.mask is not None:
            _collect(facts, access.mask, found, set())
    return list(found)


def _collect(
    facts: KernelFacts, node: cst.BaseExpression, found: dict[cst.BaseExpression, None], seen: set[Def]
) -> None:
    """Walks the logic of a mask down to what it is made of, through names to what they were given."""
    if isinstance(node, cst.BinaryOperation) and isinstance(node.operator, _LOGIC):
        _collect(facts, node.left, found, seen)
        _collect(facts, node.right, found, seen)
    elif isinstance(node, cst.UnaryOperation):
        _collect(facts, node.expression, found, seen)
    elif isinstance(node, cst.Subscript):
        _collect(facts, node.value, found, seen)
    elif isinstance(node, cst.Name) and not _is_loaded_name(facts, node):
        for definition in facts.reads.get(node, frozenset[Def]()) - seen:
            seen.add(definition)
            if definition.expr is not None and definition.kind == "assign":
                _collect(facts, definition.expr, found, seen)
    elif _is_loaded(facts.value(node)):
        found.setdefault(node)


def _is_loaded_name(facts: KernelFacts, node: cst.Name) -> bool:
    """Whether every assignment that reaches a name gives it a load, so that the name itself is the part."""
    defs = facts.reads.get(node, frozenset[Def]())
    return bool(defs) and all(d.expr is not None and _is_load(facts, d.expr) for d in defs)


def _is_load(facts: KernelFacts, node: cst.BaseExpression) -> bool:
    return isinstance(node, cst.Call) and facts.calls.get(node) == "triton.language.load"


def _is_loaded(value: Value) -> bool:
    """Whether a value comes from memory with the element type of its pointer."""
    return all(
        isinstance(leaf, Data | Num) and leaf.dtype.startswith("elem:") for _, leaf in alternatives(value)
    )


def _compare(result: RuleResult, node: cst.BaseExpression, kernel: str) -> None:
    target = cst.ComparisonTarget(cst.NotEqual(), cst.Integer("0"))
    bracketed = cst.Comparison(node, [target], lpar=[cst.LeftParen()], rpar=[cst.RightParen()])
    replace(result, node, bracketed, kernel)


RULE = BoolMask()
