"""Loop bounds of 64 bits that a constexpr bounds anyway: taken as 32 bits, after a clamp."""

from __future__ import annotations

import libcst as cst

from tritonport.facts.algebra import KernelFacts
from tritonport.facts.algebra.poly import lower_bound, nonnegative, upper_bound
from tritonport.passes.syntax import call, method
from tritonport.passes.tile_split import Splitter

_RANGES = frozenset({"range", "triton.language.range"})


def narrow_loops(facts: KernelFacts, splitter: Splitter) -> dict[cst.CSTNode, cst.CSTNode]:
    """Replacements of loop bounds; the loops' variables are noted as narrow in the splitter."""
    found: dict[cst.CSTNode, cst.CSTNode] = {}
    for definition in facts.defs.values():
        node = definition.node
        if definition.kind != "for" and not isinstance(node, cst.For):
            continue
        new = _bound(facts, splitter, node) if isinstance(node, cst.For) else None
        if new is not None:
            found[new[0]] = new[1]
            splitter.narrowed.add(definition)
    return found


def _bound(
    facts: KernelFacts, splitter: Splitter, node: cst.For
) -> tuple[cst.BaseExpression, cst.BaseExpression] | None:
    """(stop, the same stop in 32 bits), for a range that starts at a number >= 0 and stops below a constexpr."""
    if not isinstance(node.iter, cst.Call) or facts.dotted(node.iter.func) not in _RANGES:
        return None
    args = [a.value for a in node.iter.args if a.keyword is None]
    stop = args[0] if len(args) == 1 else args[1]
    number = splitter.number(stop)
    if number is None or number.dtype != "int64" or upper_bound(number.poly) is None:
        return None
    if len(args) > 1 and not _starts_at_zero_or_more(splitter, args[0]):
        return None
    return stop, method(call("tl.maximum", _on_tensors(stop), cst.Integer("0")), "to", "tl.int32")


def _starts_at_zero_or_more(splitter: Splitter, node: cst.BaseExpression) -> bool:
    number = splitter.number(node)
    low = lower_bound(number.poly) if number is not None else None
    return low is not None and nonnegative(low)


def _on_tensors(node: cst.BaseExpression) -> cst.BaseExpression:
    """Python's `min` may give back a Python number, on which no cast can be called."""
    if isinstance(node, cst.Call) and isinstance(node.func, cst.Name) and node.func.value in ("min", "max"):
        return node.with_changes(func=cst.parse_expression(f"tl.{node.func.value}imum"))
    return node
