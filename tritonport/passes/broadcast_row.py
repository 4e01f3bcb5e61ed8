"""broadcast-row: a tile whose rows are all one row is loaded as that row, and broadcast.

Rows numbered `o % G` are one row where the launch passes G = 1. The target's compiler cannot load a tile whose rows
have no distance in memory.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

import libcst as cst

from tritonport.engine.context import FileContext
from tritonport.engine.rule import RuleResult
from tritonport.facts.algebra import Access, KernelFacts, accesses
from tritonport.facts.algebra.poly import ONE, ZERO, Poly
from tritonport.facts.algebra.symbols import constexpr
from tritonport.facts.algebra.values import Num
from tritonport.facts.walk import code_of
from tritonport.passes.kernels import kernels
from tritonport.passes.syntax import bare, call, plus, replace
from tritonport.record import RuleClass


@dataclass(frozen=True)
class _Row:
    """groups: the constexpr that is 1 where there is one row. pointer, mask: those of the row. shape: of the tile."""

    groups: str
    pointer: cst.BaseExpression
    mask: cst.BaseExpression | None
    shape: tuple[Poly, Poly]


class BroadcastRow:
    """Chooses by a constexpr test, so that nothing changes where there are several rows."""

    slug = "broadcast-row"
    rule_class: RuleClass = "exact"

    def run(self, file: FileContext) -> RuleResult:
        result = RuleResult()
        for kernel in kernels(file):
            for access in accesses(kernel.facts):
                row = _row(kernel.facts, access) if access.kind == "load" else None
                if row is not None:
                    replace(result, access.node, _chosen(access, row), kernel.key)
        return result


def _row(facts: KernelFacts, access: Access) -> _Row | None:
    """The row of a tile `base + rows[:, None] + columns[None, :]` with a mask of columns alone."""
    if _inside_choice(facts, access.node):
        return None
    terms = list(_terms(access.pointer))
    rows = [term for term in terms if _extent(facts, term, 0) is not None]
    columns = [term for term in terms if _extent(facts, term, 1) is not None]
    groups = {_vanishes_at_one(facts, term) for term in rows}
    mask = None if access.mask is None else _column(access.mask)
    if len(rows) != 1 or len(columns) != 1 or None in groups or (access.mask is not None and mask is None):
        return None
    column, (name,) = _column(columns[0]), groups
    height, width = _extent(facts, rows[0], 0), _extent(facts, columns[0], 1)
    if column is None or name is None or height is None or width is None:
        return None
    if height == constexpr(name):  # a tile of G rows: where G is 1 it has one row, and no two at one place
        return None
    pointer = column
    for term in reversed([term for term in terms if term not in (rows[0], columns[0])]):
        pointer = plus(term, pointer)
    return _Row(name, pointer, mask, (height, width))


def _inside_choice(facts: KernelFacts, node: cst.CSTNode) -> bool:
    """What an earlier run wrote."""
    return facts.enclosing(node, cst.IfExp) is not None


def _terms(node: cst.BaseExpression) -> Iterator[cst.BaseExpression]:
    if isinstance(node, cst.BinaryOperation) and isinstance(node.operator, cst.Add):
        yield from _terms(node.left)
        yield from _terms(node.right)
    else:
        yield node


def _extent(facts: KernelFacts, node: cst.BaseExpression, dim: int) -> Poly | None:
    """Extent of an index tile of two dimensions that lies along this one, where constexprs give it."""
    value = facts.value(node)
    if not isinstance(value, Num) or len(value.shape) != 2 or value.shape[1 - dim] != ONE:
        return None
    extent = value.shape[dim]
    return extent if all(s.kind == "constexpr" for s in extent.symbols) else None


def _vanishes_at_one(facts: KernelFacts, node: cst.BaseExpression) -> str | None:
    """The constexpr G such that every part of an index holds a remainder of G, which is 0 where G is 1."""
    value = facts.value(node)
    if not isinstance(value, Num):
        return None
    names = {
        limit.key
        for symbol in value.poly.symbols
        for limit in (symbol.hi.symbols if symbol.hi is not None and symbol.lo == ZERO else ())
        if limit.kind == "constexpr"
    }
    for name in sorted(names):
        last = constexpr(name) - ONE
        if all(any(s.lo == ZERO and s.hi == last for s in mono) for mono, _ in value.poly.terms):
            return name
    return None


def _column(node: cst.BaseExpression) -> cst.BaseExpression | None:
    """x of `x[None, :]`."""
    if isinstance(node, cst.Subscript) and code_of(node).endswith("[None, :]"):
        return node.value
    return None


def _chosen(access: Access, row: _Row) -> cst.IfExp:
    given = [cst.Arg(bare(row.pointer))]
    for arg in access.node.args[1:]:
        masks = arg.value is access.mask and row.mask is not None
        given.append(arg.with_changes(value=row.mask) if masks else arg)
    load = access.node.with_changes(args=given)
    line = cst.Subscript(load, [*_NEW_ROW])
    height, width = (cst.parse_expression(str(extent)) for extent in row.shape)
    return cst.IfExp(
        test=cst.parse_expression(f"{row.groups} == 1"),
        body=call("tl.broadcast_to", line, height, width),
        orelse=access.node,
        lpar=[cst.LeftParen()],
        rpar=[cst.RightParen()],
    )


_NEW_ROW = cst.ensure_type(cst.parse_expression("x[None, :]"), cst.Subscript).slice

RULE = BroadcastRow()
