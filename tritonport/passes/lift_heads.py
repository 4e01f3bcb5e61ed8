"""Gives every value that depends on the head a head axis: scalars become [1, heads], vectors [rows, heads] tiles."""

from __future__ import annotations

from collections.abc import Iterator

import libcst as cst

from tritonport.engine.rule import Build
from tritonport.facts.algebra import Def, KernelFacts
from tritonport.facts.algebra.calls import is_elementwise
from tritonport.facts.algebra.facts import argument
from tritonport.facts.algebra.values import Const, Unknown, alternatives, shape_of
from tritonport.facts.walk import code_of, names_in, walk
from tritonport.passes.syntax import wrapped
from tritonport.passes.tile_split import chain

_REDUCE = frozenset({"triton.language.sum", "triton.language.max", "triton.language.min"})
_ALONG = frozenset({"triton.language.cumsum", "triton.language.cumprod"})
_SETTINGS = frozenset({"input", "axis", "reverse", "dtype"})
"""Arguments of sums and scans that mean the same for a vector and a [rows, heads] tile."""
Edit = tuple[cst.CSTNode, Build]


class CannotLift(Exception):
    """An expression that has no head axis to take."""


class Lift:
    """The edits of one kernel. head: the assignment of the head; heads: its count; width: the tile's extent.

    first: the name of the first head of a tile.
    """

    def __init__(self, facts: KernelFacts, head: Def, heads: str, width: str, first: str) -> None:
        self.facts = facts
        self.head = head
        self.heads = heads
        self.width = width
        self.first = first
        self.tainted: set[Def] = {head}
        while self._spread():
            continue

    def _spread(self) -> bool:
        """Adds the assignments that read a tainted one; True when there were any."""
        found = {
            d
            for d in self.facts.defs.values()
            if d not in self.tainted and d.kind in ("assign", "aug") and self._reads_tainted(d)
        }
        self.tainted |= found
        return bool(found)

    def _reads_tainted(self, definition: Def) -> bool:
        if definition.kind == "aug" and self.is_tainted(definition.target):
            return True
        if definition.expr is None:
            return isinstance(definition.node, cst.Assign) and self.is_tainted(definition.node.value)
        return self.is_tainted(definition.expr)

    def is_tainted(self, node: cst.CSTNode) -> bool:
        """Whether a value depends on the head. Asking for a dtype does not."""
        return any(
            not self.tainted.isdisjoint(self.facts.reads[name]) and not self._asks_dtype(name)
            for name in names_in(node)
            if name in self.facts.reads
        )

    def _asks_dtype(self, name: cst.Name) -> bool:
        parent = self.facts.parents.get(name)
        return isinstance(parent, cst.Attribute) and parent.attr.value == "dtype"

    def edits(self) -> Iterator[Edit]:
        """(node, how its updated self is rebuilt); edits nest. Raises CannotLift."""
        self._check_reads()
        for node in walk(self.facts.function.body):
            if isinstance(node, (cst.If, cst.While)) and self.is_tainted(node.test):
                raise CannotLift(f"a branch on the head: {code_of(node.test)}")
            if isinstance(node, cst.For) and self.is_tainted(node.iter):
                raise CannotLift(f"a loop over the head: {code_of(node.iter)}")
            if node in self.facts.values and isinstance(node, cst.BaseExpression) and self.is_tainted(node):
                yield from self._expression(node)
            if isinstance(node, cst.AugAssign) and self.is_tainted(node):
                yield from self._columns(node.value)

    def _check_reads(self) -> None:
        """A name may not hold a value with the head in one place and without it in another: its shape is one."""
        for name, defs in self.facts.reads.items():
            known = {d for d in defs if d.kind != "param"}
            if not known <= self.tainted and not known.isdisjoint(self.tainted):
                raise CannotLift(f"`{name.value}` has a head axis in one assignment and none in another")

    def _expression(self, node: cst.BaseExpression) -> Iterator[Edit]:
        if isinstance(node, cst.BinaryOperation):
            yield from self._columns(node.left, node.right)
        elif isinstance(node, cst.Comparison):
            yield from self._columns(node.left, *(c.comparator for c in node.comparisons))
        elif isinstance(node, cst.Subscript):
            yield self._subscript(node)
        elif isinstance(node, cst.Call):
            yield from self._call(node)
        elif not isinstance(node, (cst.Name, cst.Attribute, cst.UnaryOperation, cst.Tuple)):
            raise CannotLift(f"{type(node).__name__} with the head in it: {code_of(node)}")

    def _rank(self, node: cst.BaseExpression) -> int | None:
        ranks = {
            len(s) for _, leaf in alternatives(self.facts.value(node)) if (s := shape_of(leaf)) is not None
        }
        return ranks.pop() if len(ranks) == 1 else None

    def _columns(self, *operands: cst.BaseExpression) -> Iterator[Edit]:
        """Vectors without a head become columns, next to tiles that have one."""
        for node in operands:
            rank = self._rank(node)
            if self.is_tainted(node) or rank == 0 or isinstance(self.facts.value(node), Const):
                continue
            if rank is None:
                raise CannotLift(f"a value whose axes are not known: {code_of(node)}")
            if rank != 1:
                raise CannotLift(f"a tile of more than one axis: {code_of(node)}")
            yield node, _as_column

    def _subscript(self, node: cst.Subscript) -> Edit:
        if self._rank(node.value) != 0:
            raise CannotLift(f"an axis added to a value with the head: {code_of(node)}")
        return node, lambda updated: cst.ensure_type(updated, cst.Subscript).value

    def _call(self, node: cst.Call) -> Iterator[Edit]:
        name = self.facts.calls.get(node, "")
        short = name.rpartition(".")[2]
        if short in ("load", "store"):
            yield from self._memory(node, short)
        elif short == "make_block_ptr":
            new = self._block_pointer(node)
            yield node, lambda _: new.deep_clone()
        elif name in _REDUCE or name in _ALONG:
            self._check_along(node)
            yield node, _reduced_rows if name in _REDUCE else _along_rows
        elif short == "where":
            yield from self._columns(*(a.value for a in node.args))
        else:
            if not self._pointwise(node):
                raise CannotLift(f"a call that may mix heads: {code_of(node)}")
            if len(node.args) > 1 and not isinstance(node.func, cst.Attribute):
                yield from self._columns(*(a.value for a in node.args))

    def _check_along(self, node: cst.Call) -> None:
        """A sum or scan of one vector, whose only axis any axis means, and none of the forms that give more."""
        operand = argument(node, 0, "input")
        if operand is None or self._rank(operand) != 1:
            raise CannotLift(f"a sum or scan of what is not one vector: {code_of(node)}")
        known = all(a.keyword.value in _SETTINGS if a.keyword else not a.star for a in node.args)
        scans = self.facts.calls[node] in _ALONG
        if not known or sum(a.keyword is None for a in node.args) > (3 if scans else 2):
            raise CannotLift(f"a sum or scan with more than an axis: {code_of(node)}")

    def _pointwise(self, node: cst.Call) -> bool:
        """Whether each element of a call's result comes from the same element of what it is given."""
        if isinstance(node.func, cst.Attribute) and node.func.attr.value == "to":
            return True
        name = self.facts.calls.get(node)
        if name is not None and name.startswith("triton."):
            return is_elementwise(name)
        return node not in self.facts.mixing and not isinstance(self.facts.value(node), Unknown)

    def _memory(self, node: cst.Call, kind: str) -> Iterator[Edit]:
        pointer = node.args[0].value
        if not self.is_tainted(pointer):
            raise CannotLift(f"a value with the head at an address without it: {code_of(node)}")
        if argument(node, 3 if kind == "load" else 2, "boundary_check") is not None:
            yield node, _checked
            return
        bound = cst.parse_expression(f"({self.head.name} < {self.heads})")
        mask = argument(node, 1 if kind == "load" else 2, "mask")
        if mask is None:
            yield node, lambda updated: _masked(updated, bound, kind)
            return
        if self.is_tainted(mask) or self._rank(mask) != 1:
            raise CannotLift(f"a mask that is not one vector: {code_of(mask)}")
        yield mask, lambda updated: cst.BinaryOperation(_as_column(updated), cst.BitAnd(), bound.deep_clone())

    def _block_pointer(self, node: cst.Call) -> cst.Call:
        """A block of one axis gets the heads as its second: the head's factor in the base is their stride."""
        base, shape, strides, offsets, block, order = (a.value for a in node.args)
        if any(self.is_tainted(x) for x in (shape, strides, offsets, block, order)):
            raise CannotLift(f"a block pointer whose shape depends on the head: {code_of(node)}")
        stride, rest = self._without_head(base)
        own = [
            code_of(x.elements[0].value) for x in (shape, strides, offsets, block) if isinstance(x, cst.Tuple)
        ]
        if len(own) != 4:
            raise CannotLift(f"a block pointer that is not written out: {code_of(node)}")
        added = (self.heads, stride, self.first, self.width)
        texts = [f"({a}, {b})" for a, b in zip(own, added, strict=True)]
        texts.append("(1, 0)" if stride == "1" else "(0, 1)")
        values = [rest, *(cst.parse_expression(t) for t in texts)]
        args = [a.with_changes(value=v) for a, v in zip(node.args, values, strict=True)]
        return node.with_changes(args=args)

    def _without_head(self, base: cst.BaseExpression) -> tuple[str, cst.BaseExpression]:
        kept: cst.BaseExpression | None = None
        stride: str | None = None
        for sign, term in chain(base):
            if not self.is_tainted(term):
                kept = term if kept is None else cst.BinaryOperation(kept, cst.Add(), term)
                continue
            factor = self._factor(term)
            if sign == "-" or stride is not None or factor is None:
                raise CannotLift(f"a base that is not a sum with one multiple of the head: {code_of(base)}")
            stride = factor
        if kept is None or stride is None:
            raise CannotLift(f"a base without the head: {code_of(base)}")
        return stride, kept

    def _factor(self, term: cst.BaseExpression) -> str | None:
        """`T` of `head * T`, `1` of the head alone."""
        if isinstance(term, cst.Name):
            return "1"
        if isinstance(term, cst.BinaryOperation) and isinstance(term.operator, cst.Multiply):
            left, right = term.left, term.right
            if isinstance(left, cst.Name) and self.is_tainted(left) and not self.is_tainted(right):
                return code_of(right)
        return None


_COMMA = cst.Comma(whitespace_after=cst.SimpleWhitespace(" "))
_TIGHT = cst.AssignEqual(cst.SimpleWhitespace(""), cst.SimpleWhitespace(""))


def _as_column(node: cst.CSTNode) -> cst.BaseExpression:
    return _indexed(node, "x[:, None]")


def _indexed(node: cst.CSTNode, pattern: str) -> cst.BaseExpression:
    assert isinstance(node, cst.BaseExpression)
    return cst.ensure_type(cst.parse_expression(pattern), cst.Subscript).with_changes(value=wrapped(node))


def _along_rows(node: cst.CSTNode) -> cst.Call:
    """A sum or scan along the rows. A vector has one axis, which `axis=-1` or a constexpr may have named."""
    call = cst.ensure_type(node, cst.Call)
    zero = cst.Integer("0")
    given = argument(call, 1, "axis")
    if given is not None:
        args = [a.with_changes(value=zero) if a.value is given else a for a in call.args]
        return call.with_changes(args=args)
    axis = cst.Arg(zero, keyword=cst.Name("axis"), equal=_TIGHT)
    return call.with_changes(args=[*call.args[:-1], call.args[-1].with_changes(comma=_COMMA), axis])


def _reduced_rows(node: cst.CSTNode) -> cst.BaseExpression:
    """A sum of the rows, with the axis that it takes away put back."""
    return _indexed(_along_rows(node), "x[None, :]")


def _masked(node: cst.CSTNode, bound: cst.BaseExpression, kind: str) -> cst.Call:
    """A load or store without a mask, kept to the heads that exist."""
    call = cst.ensure_type(node, cst.Call)
    inner = bound.with_changes(lpar=[], rpar=[]).deep_clone()
    extra = [cst.Arg(inner, keyword=cst.Name("mask"), equal=_TIGHT)]
    if kind == "load":
        zero = cst.Arg(cst.Float("0.0"), keyword=cst.Name("other"), equal=_TIGHT)
        extra = [extra[0].with_changes(comma=_COMMA), zero]
    last = call.args[-1].with_changes(comma=_COMMA)
    return call.with_changes(args=[*call.args[:-1], last, *extra])


def _checked(node: cst.CSTNode) -> cst.Call:
    """A block access that checks both axes."""
    call = cst.ensure_type(node, cst.Call)
    args = [
        a.with_changes(value=cst.parse_expression("(0, 1)"))
        if a.keyword is not None and a.keyword.value == "boundary_check"
        else a
        for a in call.args
    ]
    return call.with_changes(args=args)
