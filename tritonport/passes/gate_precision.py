"""gate-precision: half-precision row vectors are widened at the load, where every use promotes them anyway."""

from __future__ import annotations

import libcst as cst

from tritonport.engine.context import FileContext
from tritonport.engine.rule import RuleResult
from tritonport.facts.algebra import Access, Def, KernelFacts, accesses
from tritonport.facts.algebra.ops import dtype_of
from tritonport.facts.algebra.values import Data, alternatives
from tritonport.facts.walk import code_of
from tritonport.passes.kernels import kernels
from tritonport.passes.syntax import method, replace
from tritonport.record import RuleClass


class GatePrecision:
    """Casts a loaded vector to float32 where it is loaded; exact, since each use did so by itself."""

    slug = "gate-precision"
    rule_class: RuleClass = "exact"

    def run(self, file: FileContext) -> RuleResult:
        result = RuleResult()
        for kernel in kernels(file):
            widen(kernel.facts, result, kernel.key)
        return result


def widen(facts: KernelFacts, result: RuleResult, kernel: str) -> None:
    """All edits of one kernel."""
    if not facts.calls_of("dot"):
        return
    wide: dict[Def, Access] = {}
    for access in accesses(facts):
        definition = _held_by(facts, access) if _is_vector(access) else None
        if definition is None:
            continue
        rounding = next((use for use in _uses(facts, definition) if not _promotes(facts, use)), None)
        if rounding is None:
            wide[definition] = access
        else:
            why = f"widening would change a result that rounds: {code_of(_around(facts, rounding))}"
            result.not_applicable(access.node, why, kernel=kernel)
    narrow = {
        d
        for d in wide
        if any(_one_type(facts, d, other) and other not in wide for other in facts.defs_of(d.name))
    }
    for definition, access in wide.items():
        if narrow.isdisjoint(d for d in wide if d is definition or _one_type(facts, d, definition)):
            replace(result, access.node, method(access.node, "to", "tl.float32"), kernel)
        else:
            why = f"`{definition.name}` is assigned again in a loop, where it keeps its type"
            result.not_applicable(access.node, why, kernel=kernel)


def _one_type(facts: KernelFacts, one: Def, other: Def) -> bool:
    """Whether two assignments of a name have to agree in their type: a loop carries the value of one into the other."""
    around, inner = set(facts.loops.get(one.target, ())), set(facts.loops.get(other.target, ()))
    return one.name == other.name and one is not other and (around < inner or inner < around)


def _is_vector(access: Access) -> bool:
    return (
        access.kind == "load" and bool(access.addresses) and all(len(a.shape) == 1 for a in access.addresses)
    )


def _held_by(facts: KernelFacts, access: Access) -> Def | None:
    """The one name that a load is assigned to, as it comes."""
    found = [d for d in facts.defs.values() if d.expr is access.node and d.kind == "assign"]
    return found[0] if len(found) == 1 else None


def _uses(facts: KernelFacts, definition: Def) -> list[cst.Name]:
    return facts.uses(definition)


def _around(facts: KernelFacts, use: cst.Name) -> cst.CSTNode:
    """The use with its subscript, if it has one."""
    parent = facts.parents[use]
    return parent if isinstance(parent, cst.Subscript) and parent.value is use else use


def _promotes(facts: KernelFacts, use: cst.Name) -> bool:
    """Whether a use turns the vector into float32 before it computes: by a cast, or by its other operand."""
    node = _around(facts, use)
    parent = facts.parents[node]
    if isinstance(parent, cst.Attribute):
        call = facts.parents[parent]
        cast = isinstance(call, cst.Call) and parent.attr.value == "to"
        return parent.attr.value == "dtype" or (cast and _is_float32(facts, call))
    if isinstance(parent, cst.BinaryOperation):
        return _is_float32(facts, parent.right if parent.left is node else parent.left)
    if isinstance(parent, cst.AugAssign):
        return _is_float32(facts, parent.target)
    return False


def _is_float32(facts: KernelFacts, node: cst.CSTNode) -> bool:
    leaves = [leaf for _, leaf in alternatives(facts.value(node))]
    return all(isinstance(leaf, Data) and dtype_of(leaf) == "float32" for leaf in leaves)


RULE = GatePrecision()
