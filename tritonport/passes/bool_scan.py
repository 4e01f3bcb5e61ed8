"""bool-scan: sums and scans over truth values count in 32-bit integers."""

from __future__ import annotations

import libcst as cst

from tritonport.engine.context import FileContext
from tritonport.engine.rule import RuleResult
from tritonport.facts.algebra import KernelFacts
from tritonport.facts.algebra.facts import argument
from tritonport.facts.algebra.values import Data, Mask, Value, alternatives
from tritonport.facts.walk import code_of
from tritonport.passes.kernels import kernels
from tritonport.passes.syntax import method, replace
from tritonport.record import RuleClass

_COUNTS = frozenset({"sum", "cumsum"})
"""Give an unsigned 32-bit count upstream."""
_ORDERS = frozenset({"max", "min"})
"""Give a signed 32-bit integer upstream, so that the cast repeats what happens anyway."""
_OPAQUE = frozenset({"associative_scan", "reduce", "xor_sum", "cumprod"})
_PREFIX = "triton.language."


class BoolScan:
    """Casts the operand to int32 where the compiler would meet a scan over single bits."""

    slug = "bool-scan"
    rule_class: RuleClass = "exact"

    def run(self, file: FileContext) -> RuleResult:
        result = RuleResult()
        for kernel in kernels(file):
            _count_in_integers(kernel.facts, result, kernel.key)
        return result


def _count_in_integers(facts: KernelFacts, result: RuleResult, kernel: str) -> None:
    for call in sorted(_calls(facts), key=facts.order.__getitem__):
        name = _name(facts, call)
        operand = _operand(facts, call)
        if operand is None or not _is_truth(facts.value(operand)):
            continue
        if name in _OPAQUE:
            why = (
                f"`{code_of(call.func)}` over truth values: cast the operand to tl.int32 and combine integers"
            )
            result.unresolved(call, why, kernel=kernel)
            continue
        signed = _signed_use(facts, call) if name in _COUNTS and not _has_dtype(call) else None
        if signed is None:
            replace(result, operand, method(operand, "to", "tl.int32"), kernel)
        else:
            why = f"the count is unsigned in `{code_of(signed)}`: write `.to(tl.int32)` behind the call, or before it"
            result.unresolved(call, why, kernel=kernel)


def _calls(facts: KernelFacts) -> list[cst.Call]:
    """`tl.sum(x)` and the like, and `x.sum()` on a tile of truth values."""
    return [call for call in facts.order if isinstance(call, cst.Call) and _name(facts, call) is not None]


def _name(facts: KernelFacts, call: cst.Call) -> str | None:
    dotted = facts.calls.get(call)
    if dotted is not None:
        short = dotted.removeprefix(_PREFIX)
    elif isinstance(call.func, cst.Attribute) and _is_truth(facts.value(call.func.value)):
        short = call.func.attr.value
    else:
        return None
    return short if short in _COUNTS | _ORDERS | _OPAQUE else None


def _operand(facts: KernelFacts, call: cst.Call) -> cst.BaseExpression | None:
    if call not in facts.calls:
        return call.func.value if isinstance(call.func, cst.Attribute) else None
    return argument(call, 0, "input")


def _is_truth(value: Value) -> bool:
    return all(
        (isinstance(leaf, Mask) and bool(leaf.shape)) or (isinstance(leaf, Data) and leaf.dtype == "int1")
        for _, leaf in alternatives(value)
    )


def _has_dtype(call: cst.Call) -> bool:
    return any(arg.keyword is not None and arg.keyword.value == "dtype" for arg in call.args)


def _signed_use(facts: KernelFacts, node: cst.BaseExpression) -> cst.CSTNode | None:
    """A use of a count for which the sign of its type matters: None where every use gives the same bits."""
    parent = facts.parents.get(node)
    if isinstance(parent, cst.Assign) and len(parent.targets) == 1:
        target = parent.targets[0].target
        definition = facts.defs.get(target) if isinstance(target, cst.Name) else None
        uses = facts.uses(definition) if definition is not None else None
        found = (_signed_use(facts, use) for use in uses) if uses is not None else iter([parent])
        return next((use for use in found if use is not None), None)
    return None if _same_bits(facts, node, parent) else parent


def _same_bits(facts: KernelFacts, node: cst.BaseExpression, parent: cst.CSTNode | None) -> bool:
    """A cast, a compare with a constant, a store, a subscript, or the count's own statement."""
    if isinstance(parent, cst.Attribute):
        return parent.attr.value in ("to", "dtype", "shape")
    if isinstance(parent, cst.Arg):
        call = facts.parents.get(parent)
        return isinstance(call, cst.Call) and facts.calls.get(call) == f"{_PREFIX}store"
    if isinstance(parent, cst.Comparison):
        sides = (parent.left, *(item.comparator for item in parent.comparisons))
        return all(side is node or isinstance(side, cst.Integer) for side in sides)
    return isinstance(parent, cst.Expr)


RULE = BoolScan()
