"""Masks in the form that the compiler turns into a slice of the transfer.

triton-adapter-opt 3.2.0 slices a transfer by `index < limit`, `<=` and `>=` when the index is a scalar plus an arange.
By `>`, `!=`, or an index from which something was subtracted, it moves the whole tile, masked lanes too, and selects.
"""

from __future__ import annotations

import libcst as cst

from tritonport.facts.algebra import Access, Def, KernelFacts
from tritonport.facts.algebra.ops import COMPARE, number
from tritonport.facts.algebra.poly import Poly, lower_bound, nonnegative
from tritonport.facts.algebra.values import Num
from tritonport.passes.guards import conjuncts, one_value
from tritonport.passes.syntax import minus, plus, wrapped

_SLICED = frozenset({"<", "<=", ">="})
Edits = dict[cst.CSTNode, cst.CSTNode]


def can_be_sliced(access: Access) -> bool:
    """Whether an address is a tile that counts up from one start: no gather, no reversal, no block pointer."""
    return access.why is None and all(
        a.block is None and a.affine and all(nonnegative(stride) for stride in a.strides)
        for a in access.addresses
    )


def slicing(facts: KernelFacts, mask: cst.BaseExpression) -> Edits | None:
    """Edits after which a mask is a slice: none where it is one already, None where it cannot be made one."""
    edits: Edits = {}
    for part in conjuncts(facts, mask):
        if is_scalar(facts, part) or _is_slice(facts, part):
            continue
        new = _as_slice(facts, part)
        if new is None:
            return None
        edits.update(new)
    return edits


def is_scalar(facts: KernelFacts, node: cst.BaseExpression) -> bool:
    shape = getattr(one_value(number(facts.value(node))), "shape", None)
    return shape == ()


def _sides(node: cst.BaseExpression) -> tuple[cst.BaseExpression, str, cst.BaseExpression] | None:
    if not isinstance(node, cst.Comparison) or len(node.comparisons) != 1:
        return None
    op = COMPARE.get(type(node.comparisons[0].operator))
    return None if op is None else (node.left, op, node.comparisons[0].comparator)


def _is_slice(facts: KernelFacts, node: cst.BaseExpression) -> bool:
    sides = _sides(node)
    if sides is None:
        return False
    left, op, right = sides
    return op in _SLICED and is_scalar(facts, right) and _is_plain(facts, left)


def _is_plain(facts: KernelFacts, node: cst.BaseExpression) -> bool:
    """Whether an index is an arange, or a scalar plus one, however it is named."""
    if isinstance(node, cst.Name):
        defs = facts.reads.get(node, frozenset[Def]())
        return bool(defs) and all(
            d.kind == "assign" and d.expr is not None and _is_plain(facts, d.expr) for d in defs
        )
    if isinstance(node, cst.Subscript):
        return _is_plain(facts, node.value)
    if isinstance(node, cst.BinaryOperation) and isinstance(node.operator, cst.Add):
        pairs = ((node.left, node.right), (node.right, node.left))
        return any(is_scalar(facts, scalar) and _is_plain(facts, tile) for scalar, tile in pairs)
    return isinstance(node, cst.Call) and facts.calls.get(node) == "triton.language.arange"


def _as_slice(facts: KernelFacts, node: cst.BaseExpression) -> Edits | None:
    sides = _sides(node)
    if sides is None or not is_scalar(facts, sides[2]):
        return None
    assert isinstance(node, cst.Comparison)
    left, op, right = sides
    limit = _lower_limit(facts, left, op, right)
    if limit is None and op not in _SLICED:
        return None
    edits: Edits = {}
    if not _is_plain(facts, left):
        moved = _scalar_first(facts, left)
        if moved is None:
            return None
        edits.update(moved)
    if limit is not None:
        target = cst.ComparisonTarget(cst.GreaterThanEqual(), limit)
        edits[node] = node.with_changes(comparisons=[target])
    return edits


def _lower_limit(
    facts: KernelFacts, left: cst.BaseExpression, op: str, right: cst.BaseExpression
) -> cst.BaseExpression | None:
    """The limit n of `left >= n`, for `left > n - 1`, and for `left != n - 1` where n - 1 is the least index."""
    limit = one_value(number(facts.value(right)))
    if not isinstance(limit, Num) or limit.poly.value is None or op not in (">", "!="):
        return None
    if op == "!=" and not _is_least(facts, left, limit.poly):
        return None
    return cst.Integer(str(limit.poly.value + 1)) if limit.poly.value >= -1 else None


def _is_least(facts: KernelFacts, node: cst.BaseExpression, limit: Poly) -> bool:
    value = one_value(number(facts.value(node)))
    low = lower_bound(value.poly) if isinstance(value, Num) else None
    return low is not None and nonnegative(low - limit)


def _scalar_first(facts: KernelFacts, node: cst.BaseExpression) -> Edits | None:
    """`o - w` with `o = s + arange` as `(s - w) + arange`, at the assignment of a named index: the same sum."""
    while isinstance(node, cst.Subscript):
        node = node.value
    defs = facts.reads.get(node, frozenset[Def]()) if isinstance(node, cst.Name) else ()
    (only,) = defs if len(defs) == 1 else (None,)
    if only is None or only.kind != "assign" or only.expr is None:
        return None
    expr = only.expr
    if not isinstance(expr, cst.BinaryOperation) or not isinstance(expr.operator, cst.Subtract):
        return None
    parts = _parts(facts, expr.left)
    if parts is None or not is_scalar(facts, expr.right):
        return None
    scalar, tile = parts
    return {expr: plus(wrapped(minus(scalar, expr.right)), tile)}


def _parts(
    facts: KernelFacts, node: cst.BaseExpression
) -> tuple[cst.BaseExpression, cst.BaseExpression] | None:
    """(scalar, arange) of an index that is their sum, where both mean the same at the node."""
    if isinstance(node, cst.Name):
        defs = facts.reads.get(node, frozenset[Def]())
        (only,) = defs if len(defs) == 1 else (None,)
        if only is None or only.kind != "assign" or only.expr is None or not facts.same_at(only, node):
            return None
        return _parts(facts, only.expr)
    if not isinstance(node, cst.BinaryOperation) or not isinstance(node.operator, cst.Add):
        return None
    for scalar, tile in ((node.left, node.right), (node.right, node.left)):
        arange = isinstance(tile, cst.Call) and facts.calls.get(tile) == "triton.language.arange"
        if is_scalar(facts, scalar) and arange:
            return scalar, tile
    return None
