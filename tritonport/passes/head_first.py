"""Rewrites offsets `X * H + h` of one pointer parameter to `h * rows + X`, term by term.

The change is linear in the offset: each summand is changed by itself, wherever it is added to the pointer, and the
sum of the changed summands is the changed sum.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass

import libcst as cst

from tritonport.facts.algebra import Access, KernelFacts, Poly, accesses
from tritonport.facts.algebra.poly import ONE, ZERO
from tritonport.facts.algebra.symbols import constexpr
from tritonport.facts.algebra.values import BlockPtr, Ptr, alternatives
from tritonport.facts.walk import code_of
from tritonport.passes.syntax import bare, call, plus, times, wrapped
from tritonport.passes.tile_split import Splitter, chain


@dataclass(frozen=True)
class Heads:
    """A parameter whose elements are rows of one value per head. heads: the constexpr parameter that counts them."""

    base: str
    heads: str
    loaded: bool
    stored: bool


@dataclass(frozen=True)
class NoHead:
    """A parameter whose rows may hold something else: what looks like the head may be as large as a row, or larger."""

    base: str
    why: str


class Stopped(Exception):
    """A summand that cannot be changed by itself."""


def head_parameters(facts: KernelFacts) -> Iterator[Heads | NoHead | tuple[str, str]]:
    """Parameters read or written one head at a time: `Heads`, `NoHead` where there may be none, or (parameter, why not)
    for a near miss."""
    by_base: dict[str, list[Access]] = {}
    for access in accesses(facts):
        for base in access.bases:
            by_base.setdefault(base, []).append(access)
    for base, found in by_base.items():
        heads = {h for access in found for h in _strides(access, base)}
        if not heads:
            continue
        if len(heads) > 1:
            yield base, f"tiles along different strides: {', '.join(sorted(map(str, heads)))}"
            continue
        yield _checked(base, heads.pop(), found)


def _strides(access: Access, base: str) -> set[Poly]:
    """The stride of each one-dimensional tile of a parameter, where it is a constexpr parameter."""
    return {
        a.strides[0]
        for a in access.addresses
        if a.base == base and len(a.shape) == 1 and _is_name(a.strides[0]) and a.shape[0] != ONE
    }


def _is_name(poly: Poly) -> bool:
    symbol = next(iter(poly.symbols), None)
    return symbol is not None and symbol.kind == "constexpr" and poly == Poly.of(symbol)


def _checked(base: str, heads: Poly, found: list[Access]) -> Heads | NoHead | tuple[str, str]:
    for access in found:
        if access.why is not None:
            return base, access.why
        for address in access.addresses:
            if address.base != base:
                continue
            if not address.affine or any(s.quotient(heads)[1] != ZERO for s in address.strides):
                return base, f"an access that is not one head's: {code_of(access.pointer)}"
            head = address.scalar.quotient(heads)[1]
            if not _within(head, heads):
                why = f"the head `{head}` is not known to be below {heads}: {code_of(access.pointer)}"
                return NoHead(base, why)
    kinds = {access.kind for access in found}
    return Heads(base, str(heads), "load" in kinds, "store" in kinds)


def _within(head: Poly, heads: Poly) -> bool:
    """Whether 0 <= head < heads."""
    symbol = next(iter(head.symbols), None)
    return symbol is not None and head == Poly.of(symbol) and symbol.lo == ZERO and symbol.hi == heads - ONE


class HeadFirst:
    """Changes one parameter's offsets in one kernel."""

    def __init__(self, facts: KernelFacts, heads: Heads, rows: str) -> None:
        self.facts = facts
        self.splitter = Splitter(facts)
        self.heads = heads
        self.rows = cst.Name(rows)
        self.divisor = constexpr(heads.heads)

    def edits(self) -> list[tuple[cst.CSTNode, cst.CSTNode]]:
        """(node, replacement) for every expression that moves the pointer. Raises Stopped."""
        found: list[tuple[cst.CSTNode, cst.CSTNode]] = []
        for node in self.facts.values:
            if isinstance(node, cst.BinaryOperation) and self._is_whole_address(node):
                found.append((node, self._sum(node)))
            elif isinstance(node, cst.Name) and self._is_augmented(node):
                statement = self.facts.parents[node]
                assert isinstance(statement, cst.AugAssign)
                found.append((statement.value, bare(self.changed(statement.value))))
            elif isinstance(node, cst.Call) and self._is_block(node):
                found += self._strides_of_block(node)
        return [(old, new) for old, new in found if old is not new]

    def _mine(self, node: cst.CSTNode) -> bool:
        leaves = [leaf for _, leaf in alternatives(self.facts.value(node))]
        bases = {leaf.base for leaf in leaves if isinstance(leaf, Ptr)}
        if self.heads.base in bases and len(bases) > 1:
            raise Stopped(f"a pointer that may be another parameter's: {code_of(node)}")
        return self.heads.base in bases

    def _is_whole_address(self, node: cst.BinaryOperation) -> bool:
        if not self._mine(node):
            return False
        parent = self.facts.parents.get(node)
        return not (isinstance(parent, cst.BinaryOperation) and self._mine(parent))

    def _is_augmented(self, node: cst.Name) -> bool:
        parent = self.facts.parents.get(node)
        return isinstance(parent, cst.AugAssign) and parent.target is node and self._mine(node)

    def _is_block(self, node: cst.Call) -> bool:
        if self.facts.calls.get(node) != "triton.language.make_block_ptr":
            return False
        leaves = [leaf for _, leaf in alternatives(self.facts.value(node))]
        return any(isinstance(leaf, BlockPtr) and leaf.base.base == self.heads.base for leaf in leaves)

    def _strides_of_block(self, node: cst.Call) -> Iterator[tuple[cst.CSTNode, cst.CSTNode]]:
        strides = node.args[2].value
        if not isinstance(strides, (cst.Tuple, cst.List)) or len(strides.elements) != 1:
            raise Stopped(f"a block pointer of more than one dimension: {code_of(node)}")
        yield strides.elements[0].value, self.divided(strides.elements[0].value)

    def _sum(self, node: cst.BinaryOperation) -> cst.BaseExpression:
        terms = chain(node)
        total: cst.BaseExpression | None = None
        for sign, term in terms:
            new = term if self._mine(term) else self.changed(term)
            if sign == "-":
                raise Stopped(f"a subtraction in an address: {code_of(node)}")
            total = new if total is None else plus(total, _inside(new))
        assert total is not None
        return total.with_changes(lpar=node.lpar, rpar=node.rpar)

    def _poly(self, node: cst.BaseExpression) -> Poly:
        number = self.splitter.number(node)
        if number is None:
            raise Stopped(f"not an index: {code_of(node)}")
        return number.poly

    def changed(self, node: cst.BaseExpression) -> cst.BaseExpression:
        """One summand of an offset: a multiple of H loses the factor, a head gains the row count."""
        rows, head = self._poly(node).quotient(self.divisor)
        if head.is_zero:
            return self.divided(node)
        if rows.is_zero:
            return self._scaled(node)
        if isinstance(node, cst.BinaryOperation) and isinstance(node.operator, cst.Add):
            both = plus(self.changed(node.left), _inside(self.changed(node.right)))
            return both.with_changes(lpar=node.lpar, rpar=node.rpar)
        if _is_cast(node):
            return _recast(node, self.changed)
        raise Stopped(f"rows and head in one term: {code_of(node)}")

    def _scaled(self, node: cst.BaseExpression) -> cst.BaseExpression:
        """head * rows, in 64 bits: the product reaches the size of the tensor."""
        number = self.splitter.number(node)
        narrow = number is not None and number.dtype != "int64"
        wide = call("tl.cast", node, cst.parse_expression("tl.int64")) if narrow else node
        return times(wide, self.rows)

    def divided(self, node: cst.BaseExpression) -> cst.BaseExpression:
        """A multiple of H without the factor."""
        poly = self._poly(node)
        if poly.is_zero:
            return node
        if poly == self.divisor:
            return cst.Integer("1")
        if isinstance(node, cst.BinaryOperation):
            return self._divided_operation(node)
        if isinstance(node, cst.Subscript):
            return node.with_changes(value=wrapped(self.divided(node.value)))
        if _is_cast(node):
            return _recast(node, self.divided)
        raise Stopped(f"a multiple of {self.heads.heads} that is not written as one: {code_of(node)}")

    def _divided_operation(self, node: cst.BinaryOperation) -> cst.BaseExpression:
        if isinstance(node.operator, (cst.Add, cst.Subtract)):
            return node.with_changes(left=self.divided(node.left), right=_inside(self.divided(node.right)))
        if not isinstance(node.operator, cst.Multiply):
            raise Stopped(f"a multiple of {self.heads.heads} that is not written as one: {code_of(node)}")
        for field, other in (("right", "left"), ("left", "right")):
            factor: cst.BaseExpression = getattr(node, field)
            if self._poly(factor) == self.divisor:
                return getattr(node, other)
            if self._poly(factor).quotient(self.divisor)[1].is_zero:
                return node.with_changes(**{field: wrapped(self.divided(factor))})
        raise Stopped(f"a multiple of {self.heads.heads} that is not written as one: {code_of(node)}")


def _inside(node: cst.BaseExpression) -> cst.BaseExpression:
    """A summand without parentheses that it no longer needs."""
    return (
        bare(node) if not isinstance(bare(node), (cst.IfExp, cst.Comparison, cst.BooleanOperation)) else node
    )


def _is_cast(node: cst.BaseExpression) -> bool:
    """`x.to(dtype)` or `tl.cast(x, dtype)`."""
    if not isinstance(node, cst.Call) or not isinstance(node.func, cst.Attribute):
        return False
    return node.func.attr.value == "to" or (node.func.attr.value == "cast" and len(node.args) == 2)


def _recast(
    node: cst.BaseExpression, change: Callable[[cst.BaseExpression], cst.BaseExpression]
) -> cst.BaseExpression:
    assert isinstance(node, cst.Call) and isinstance(node.func, cst.Attribute)
    if node.func.attr.value == "to":
        return node.with_changes(func=node.func.with_changes(value=wrapped(change(node.func.value))))
    first = node.args[0].with_changes(value=bare(change(node.args[0].value)))
    return node.with_changes(args=[first, *node.args[1:]])
