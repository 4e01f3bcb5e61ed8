"""Where a kernel takes its head from a program id: `pid % H`, or an axis of the grid of its own."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import libcst as cst

from tritonport.engine.rule import Build
from tritonport.facts.algebra import Def, KernelFacts
from tritonport.facts.algebra.poly import ONE, Poly, Symbol
from tritonport.facts.algebra.symbols import constexpr
from tritonport.facts.algebra.values import Num, Tup, Value
from tritonport.facts.walk import code_of, find, walk
from tritonport.passes.grid_axis import with_factor
from tritonport.passes.syntax import wrapped

Edit = tuple[cst.CSTNode, Build]


@dataclass(frozen=True)
class Split:
    """The one assignment of a head from a program id.

    whole: its expression. flat: an argument of a helper that holds the factor H. quotients: `pid // H` beside it.
    axis: of the grid. alone: whether the axis holds heads and nothing else.
    """

    head: Def
    heads: str
    axis: int
    whole: cst.BaseExpression
    quotients: tuple[cst.BinaryOperation, ...] = ()
    flat: cst.BaseExpression | None = None
    alone: bool = False

    def edits(self, facts: KernelFacts, width: str, first: str) -> list[Edit]:
        """The heads of a program: `width` of them from `first` on. A head fits 32 bits, whatever its id has."""
        groups = f"tl.cdiv({self.heads}, {width})"
        number = facts.value(self.whole)
        wide = isinstance(number, Num) and number.dtype == "int64"
        group = self.whole.with_changes(lpar=[], rpar=[])
        if not self.alone:
            group = cst.ensure_type(group, cst.BinaryOperation).with_changes(right=_expr(groups))
        text = f"tl.cast({code_of(group)}, tl.int32)" if wide else code_of(wrapped(group))
        line = cst.parse_statement(f"{first} = {text} * {width}")
        place = facts.enclosing(self.head.target, cst.SimpleStatementLine)
        assert place is not None, "an assignment is a statement"
        found = [_constant(self.whole, _expr(f"{first} + tl.arange(0, {width})[None, :]"))]
        found.append((place, lambda updated: _behind(line, updated)))
        found += [_constant(q, q.with_changes(right=_expr(groups))) for q in self.quotients]
        if self.flat is not None:
            found.append(_constant(self.flat, with_factor(self.flat, self.heads, groups)))
        return found


def _behind(line: cst.BaseStatement, node: cst.CSTNode) -> cst.FlattenSentinel[cst.CSTNode]:
    """A statement with another one before it, which takes its comments."""
    old = cst.ensure_type(node, cst.SimpleStatementLine)
    return cst.FlattenSentinel(
        [line.with_changes(leading_lines=old.leading_lines), old.with_changes(leading_lines=[])]
    )


def _expr(text: str) -> cst.BaseExpression:
    return cst.parse_expression(text)


def _constant(old: cst.CSTNode, new: cst.CSTNode) -> Edit:
    return old, lambda _: new.deep_clone()


def head_split(facts: KernelFacts, axes: dict[str, str]) -> Split | None:
    """How the kernel takes its head. axes: parameters that every launch passes as the size of a grid axis, by axis."""
    for definition in facts.defs.values():
        node = definition.expr
        if isinstance(node, cst.BinaryOperation) and isinstance(node.operator, cst.Modulo):
            split = _remainder(facts, definition, node)
        else:
            split = None if node is None else _own_axis(facts, definition, node, axes)
        if split is not None:
            return split
    return None


def _own_axis(
    facts: KernelFacts, definition: Def, node: cst.BaseExpression, axes: dict[str, str]
) -> Split | None:
    """`tl.program_id(1)` of an axis with a program per head, where a tile has one value per head."""
    value = facts.value(node)
    symbol = _only(value.poly) if isinstance(value, Num) else None
    if symbol is None or symbol.kind != "pid" or symbol.hi is None:
        return None
    axis = symbol.label[-2]
    if axis not in axes or symbol.hi != constexpr(axes[axis]) - ONE:
        return None
    if _asked_elsewhere(facts, symbol, [node]):
        return None
    return Split(definition, axes[axis], int(axis), node, alone=True)


def _asked_elsewhere(facts: KernelFacts, symbol: Symbol, known: Sequence[cst.CSTNode]) -> bool:
    """Whether anything but the known expressions asks for a program id: by itself, or by a helper that does."""
    inside = {call for node in known for call in find(node, cst.Call)}
    for call in find(facts.function.body, cst.Call):
        if call in inside or not _holds(facts.value(call), symbol):
            continue
        given = [facts.value(arg.value) for arg in call.args]
        if facts.calls.get(call) == _PROGRAM_ID or not any(_holds(value, symbol) for value in given):
            return True
    return False


def _ids(symbol: Symbol) -> list[Symbol]:
    """The program id of a helper's remainder, and the remainder."""
    return [symbol, *(part for poly in symbol.parts[:1] for part in poly.symbols)]


_PROGRAM_ID = "triton.language.program_id"


def _holds(value: Value, symbol: Symbol) -> bool:
    """Whether a number, or one of several, is made of a symbol."""
    if isinstance(value, Tup):
        return any(_holds(item, symbol) for item in value.items)
    return isinstance(value, Num) and symbol in value.poly.symbols


def _only(poly: Poly) -> Symbol | None:
    """The symbol that a polynomial is."""
    symbol = next(iter(poly.symbols), None)
    return symbol if symbol is not None and poly == Poly.of(symbol) else None


def _remainder(facts: KernelFacts, definition: Def, node: cst.BinaryOperation) -> Split | None:
    """`head, batch = pid % H, pid // H`."""
    if not isinstance(node.left, cst.Name) or not isinstance(node.right, cst.Name):
        return None
    source = facts.value(node.left)
    place = _place(facts, source, node.right.value) if isinstance(source, Num) else None
    if place is None:
        return None
    quotients: list[cst.BinaryOperation] = []
    origins = facts.reads.get(node.left, frozenset[Def]())
    symbol = _only(source.poly) if isinstance(source, Num) else None
    known = [part for origin in origins for part in (origin.expr, origin.node) if part is not None]
    if symbol is None or any(_asked_elsewhere(facts, part, known) for part in _ids(symbol)):
        return None
    for origin in origins:
        for use in facts.uses(origin):
            parent = facts.parents[use]
            if parent is node:
                continue
            if not _is_quotient(parent, use, node.right.value):
                return None
            assert isinstance(parent, cst.BinaryOperation)
            quotients.append(parent)
    return Split(definition, node.right.value, place[0], node, tuple(quotients), place[1])


def _is_quotient(node: cst.CSTNode, use: cst.Name, heads: str) -> bool:
    return (
        isinstance(node, cst.BinaryOperation)
        and isinstance(node.operator, cst.FloorDivide)
        and node.left is use
        and isinstance(node.right, cst.Name)
        and node.right.value == heads
    )


def _place(facts: KernelFacts, source: Num, heads: str) -> tuple[int, cst.BaseExpression | None] | None:
    """(grid axis, helper's argument) of a program id, or of the remainder of one that a helper took."""
    symbol = _only(source.poly)
    if symbol is None:
        return None
    if symbol.kind == "pid":
        return int(symbol.label[-2]), None
    if not symbol.key.startswith("mod(program_id("):
        return None
    inner = next(iter(symbol.parts[0].symbols))
    for call in (n for n in walk(facts.function.body) if isinstance(n, cst.Call)):
        value = facts.value(call.args[0].value) if len(call.args) == 1 and call not in facts.calls else None
        if isinstance(value, Num) and value.poly == symbol.parts[1]:
            return int(inner.label[-2]), call.args[0].value
    return None
