"""What a mask proves about the index of a lane, and which index of an address needs that proof."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

import libcst as cst

from tritonport.facts.algebra import Access, Def, KernelFacts
from tritonport.facts.algebra.ops import COMPARE, number
from tritonport.facts.algebra.poly import ONE, ZERO, Poly, lower_bound, nonnegative
from tritonport.facts.algebra.values import Bound, CompareOp, Data, Mask, Num, Ptr, Value, alternatives
from tritonport.facts.walk import names_in

OPPOSITE: dict[CompareOp, CompareOp] = {"<": ">=", "<=": ">", ">": "<=", ">=": "<", "==": "!=", "!=": "=="}
"""The compare that holds exactly where another one does not (integers; never for floats)."""


@dataclass(frozen=True)
class Index:
    """An index inside an address.

    node: what to clamp; whole: it is a pointer sum (`base + i - 1`), of which the summands are clamped together.
    definition: the assignment of a pointer in which it stands, None where it stands in the access itself.
    except_value: the compare `idx != -1` that keeps one value out, where the mask does not say `>= 0`.
    """

    node: cst.BaseExpression
    definition: Def | None
    whole: bool = False
    except_value: cst.BaseExpression | None = None


def proofs(value: Value, *, holds: bool = True) -> tuple[Poly, ...]:
    """Polynomials that are >= 0 in every lane where a mask holds (or, holds=False, where it does not)."""
    found: list[set[Poly]] = []
    for _, leaf in alternatives(value):
        bounds = leaf.bounds if isinstance(leaf, Mask) else None
        if bounds is None or (not holds and len(bounds) != 1):
            return ()
        kept = bounds if holds else [Bound(bounds[0].left, OPPOSITE[bounds[0].op], bounds[0].right)]
        found.append({poly for bound in kept for poly in at_least_zero(bound)})
    return tuple(sorted(set.intersection(*found), key=str)) if found else ()


def at_least_zero(bound: Bound) -> tuple[Poly, ...]:
    """Polynomials that are >= 0 where a compare holds; none where it says nothing of the kind."""
    difference = bound.left - bound.right
    if bound.op in ("<", "<="):
        return (-difference - ONE if bound.op == "<" else -difference,)
    if bound.op in (">", ">="):
        return (difference - ONE if bound.op == ">" else difference,)
    if bound.op == "==":
        return (difference, -difference)
    # A number that is not its own lower end is above it.
    return tuple(p - ONE for p in (difference, -difference) if is_nonnegative(p))


def is_nonnegative(poly: Poly) -> bool:
    low = lower_bound(poly)
    return low is not None and nonnegative(low)


def proves(guards: tuple[Poly, ...], poly: Poly, *, exactly: bool) -> bool:
    """Whether a guard holds a polynomial at zero or above. exactly: the guard is about this very index."""
    gaps = [poly - guard for guard in guards]
    return any(is_nonnegative(gap) and (gap.value is not None or not exactly) for gap in gaps)


def negative_indices(facts: KernelFacts, access: Access, guards: tuple[Poly, ...]) -> list[Index]:
    """The smallest indices of an address that may be negative, but not in lanes where the guards hold."""
    return _below(facts, access.pointer, None, guards)


def _below(
    facts: KernelFacts,
    node: cst.BaseExpression,
    owner: Def | None,
    guards: tuple[Poly, ...],
    *,
    inside: bool = False,
) -> list[Index]:
    """inside: the node is a part of a pointer sum, which is clamped as a whole or not at all."""
    whole = isinstance(one_value(facts.value(node)), Ptr)
    found = [i for child in _operands(node) for i in _below(facts, child, owner, guards, inside=whole)]
    if found:
        return found
    if isinstance(node, cst.Name):
        definition = pointer_definition(facts, node)
        if definition is not None and definition.expr is not None:
            return _below(facts, definition.expr, definition, guards)
    poly = None if whole and inside else _index(facts, node)
    if poly is None or is_nonnegative(poly):
        return []
    exactly = not whole or not _falls_below_zero(poly)
    return [Index(node, owner, whole)] if proves(guards, poly, exactly=exactly) else []


def _falls_below_zero(poly: Poly) -> bool:
    """Whether the least value is a number below zero: a sum of sizes and indices less a constant."""
    low = lower_bound(poly)
    return low is not None and low.value is not None and low.value < 0


def _operands(node: cst.BaseExpression) -> Iterator[cst.BaseExpression]:
    """Parts of an address that are addresses or indices themselves; calls are entered for a cast alone."""
    if isinstance(node, cst.BinaryOperation):
        yield from (node.left, node.right)
    elif isinstance(node, cst.Subscript):
        yield node.value
    elif isinstance(node, cst.Call) and isinstance(node.func, cst.Attribute) and node.func.attr.value == "to":
        yield node.func.value


def _index(facts: KernelFacts, node: cst.BaseExpression) -> Poly | None:
    """The number that a node is, or the offset of a pointer sum."""
    value = one_value(facts.value(node))
    if isinstance(value, Num) and not value.constexpr:
        return value.poly
    if isinstance(value, Ptr) and isinstance(node, cst.BinaryOperation):
        start = one_value(facts.value(pointer_base(facts, node)))
        return value.offset - start.offset if isinstance(start, Ptr) else None
    return None


def one_value(value: Value) -> Value | None:
    """The value where no constexpr test decides between several."""
    found = alternatives(value)
    return found[0][1] if len(found) == 1 else None


def pointer_base(facts: KernelFacts, node: cst.BaseExpression) -> cst.BaseExpression:
    """The pointer at the left end of a pointer sum."""
    while isinstance(node, cst.BinaryOperation):
        node = node.left if isinstance(one_value(facts.value(node.left)), Ptr) else node.right
    return node


def pointer_definition(facts: KernelFacts, node: cst.Name) -> Def | None:
    """The one assignment that gives a name its tile of pointers."""
    if not isinstance(one_value(facts.value(node)), Ptr):
        return None
    defs = facts.reads.get(node, frozenset[Def]())
    (only,) = defs if len(defs) == 1 else (None,)
    return (
        only
        if only is not None and only.kind == "assign" and isinstance(only.expr, cst.BaseExpression)
        else None
    )


def conjuncts(facts: KernelFacts, node: cst.BaseExpression) -> Iterator[cst.BaseExpression]:
    """The parts of a mask that all hold, through `&`, subscripts and names with one assignment."""
    if isinstance(node, cst.BinaryOperation) and isinstance(node.operator, cst.BitAnd):
        yield from conjuncts(facts, node.left)
        yield from conjuncts(facts, node.right)
    elif isinstance(node, cst.Subscript):
        yield from conjuncts(facts, node.value)
    elif isinstance(node, cst.Name):
        defs = facts.reads.get(node, frozenset[Def]())
        (only,) = defs if len(defs) == 1 else (None,)
        if only is not None and only.kind == "assign" and only.expr is not None and facts.same_at(only, node):
            yield from conjuncts(facts, only.expr)
    else:
        yield node


def loaded_indices(facts: KernelFacts, access: Access) -> list[Index]:
    """Loaded indices of an address that the mask compares with what is below zero (`idx >= 0`, `idx != -1`)."""
    found: list[Index] = []
    for part in conjuncts(facts, access.mask) if access.mask is not None else ():
        name = _compared_name(facts, part)
        if name is not None:
            sentinel = isinstance(part, cst.Comparison) and _operator(part) == "!="
            found += [
                Index(use, owner, except_value=part if sentinel else None)
                for use, owner in names_of_address(facts, access.pointer)
                if use.value == name.value and facts.reads[use] == facts.reads[name]
            ]
    return found


def _operator(node: cst.Comparison) -> CompareOp | None:
    return COMPARE.get(type(node.comparisons[0].operator)) if len(node.comparisons) == 1 else None


def _compared_name(facts: KernelFacts, node: cst.BaseExpression) -> cst.Name | None:
    """The loaded index of `idx >= 0`, `idx > -1` or `idx != -1`, written either way round."""
    if not isinstance(node, cst.Comparison) or (op := _operator(node)) is None:
        return None
    left, right = node.left, node.comparisons[0].comparator
    if isinstance(right, cst.Name):
        left, right = right, left
        op = {"<=": ">=", "<": ">", "!=": "!="}.get(op, op)  # type: ignore[assignment]
    limit = one_value(number(facts.value(right)))
    if not isinstance(left, cst.Name) or not is_loaded(facts.value(left)) or not isinstance(limit, Num):
        return None
    wanted = {(">=", ZERO), (">", -ONE), ("!=", -ONE)}
    return left if (op, limit.poly) in wanted else None


def is_loaded(value: Value) -> bool:
    """Whether a value is a tile that the algebra does not follow, so that it may be a loaded index."""
    return all(isinstance(leaf, Data) for _, leaf in alternatives(value))


def names_of_address(
    facts: KernelFacts, node: cst.BaseExpression, owner: Def | None = None
) -> Iterator[tuple[cst.Name, Def | None]]:
    """Names read in an address, also in the one assignment of a pointer that it names; not inside calls."""
    if isinstance(node, cst.Name) and node in facts.reads:
        only = next(iter(facts.reads[node])) if len(facts.reads[node]) == 1 else None
        if (
            only is not None
            and only.kind == "assign"
            and only.expr is not None
            and _has_pointer(facts, only.expr)
        ):
            yield from names_of_address(facts, only.expr, only)
        else:
            yield node, owner
    for child in _operands(node):
        yield from names_of_address(facts, child, owner)


def _has_pointer(facts: KernelFacts, node: cst.BaseExpression) -> bool:
    """Whether an expression is a sum with a pointer parameter in it, also where the whole is not understood."""
    if not isinstance(node, cst.BinaryOperation):
        return False
    return any(isinstance(one_value(facts.value(name)), Ptr) for name in names_in(node))
