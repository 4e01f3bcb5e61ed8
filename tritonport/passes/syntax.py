"""Builds small pieces of kernel syntax."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

import libcst as cst

from tritonport.engine.rule import RuleResult
from tritonport.facts.walk import code_of, walk

_LOOSE = (
    cst.BinaryOperation,
    cst.Comparison,
    cst.BooleanOperation,
    cst.UnaryOperation,
    cst.IfExp,
    cst.Lambda,
)
_TARGETS: dict[type[cst.CSTNode], str] = {
    cst.AssignTarget: "target",
    cst.AnnAssign: "target",
    cst.AugAssign: "target",
    cst.Del: "target",
    cst.For: "target",
    cst.CompFor: "target",
    cst.AsName: "name",
}
_COMMA = cst.Comma(whitespace_after=cst.SimpleWhitespace(" "))


def wrapped(node: cst.BaseExpression) -> cst.BaseExpression:
    """The expression in parentheses, where it needs them to be an operand."""
    if node.lpar or not isinstance(node, _LOOSE):
        return node
    return node.with_changes(lpar=[cst.LeftParen()], rpar=[cst.RightParen()])


def bare(node: cst.BaseExpression) -> cst.BaseExpression:
    """The expression without its outermost parentheses, where those stand on one line."""
    if len(node.lpar) != 1 or "\n" in code_of(node):
        return node
    return node.with_changes(lpar=[], rpar=[])


def call(function: str, *args: cst.BaseExpression) -> cst.Call:
    return cst.Call(func=cst.parse_expression(function), args=arguments(args))


def arguments(values: Sequence[cst.BaseExpression]) -> list[cst.Arg]:
    last = len(values) - 1
    return [
        cst.Arg(bare(v), comma=_COMMA if i < last else cst.MaybeSentinel.DEFAULT)
        for i, v in enumerate(values)
    ]


def method(receiver: cst.BaseExpression, name: str, *args: str) -> cst.Call:
    parsed = [cst.parse_expression(a) for a in args]
    return cst.Call(func=cst.Attribute(wrapped(receiver), cst.Name(name)), args=arguments(parsed))


def plus(left: cst.BaseExpression, right: cst.BaseExpression) -> cst.BinaryOperation:
    """left + right; a product or a call needs no parentheses."""
    return cst.BinaryOperation(_term(left), cst.Add(), _factor_or_product(right))


def minus(left: cst.BaseExpression, right: cst.BaseExpression) -> cst.BinaryOperation:
    return cst.BinaryOperation(_term(left), cst.Subtract(), _factor_or_product(right))


def times(left: cst.BaseExpression, right: cst.BaseExpression) -> cst.BinaryOperation:
    return cst.BinaryOperation(wrapped(left), cst.Multiply(), wrapped(right))


def _is_sum(node: cst.BaseExpression) -> bool:
    return isinstance(node, cst.BinaryOperation) and isinstance(node.operator, (cst.Add, cst.Subtract))


def _is_product(node: cst.BaseExpression) -> bool:
    return isinstance(node, cst.BinaryOperation) and isinstance(
        node.operator, (cst.Multiply, cst.FloorDivide, cst.Modulo)
    )


def _term(node: cst.BaseExpression) -> cst.BaseExpression:
    return node if node.lpar or _is_sum(node) or _is_product(node) else wrapped(node)


def _factor_or_product(node: cst.BaseExpression) -> cst.BaseExpression:
    return node if node.lpar or _is_product(node) else wrapped(node)


def statement(text: str) -> cst.BaseStatement:
    return cst.parse_statement(text)


def assign(name: str, value: cst.BaseExpression) -> cst.Assign:
    return cst.Assign([cst.AssignTarget(cst.Name(name))], bare(value))


def replace(
    result: RuleResult, old: cst.CSTNode, new: cst.CSTNode, kernel: str, *, counts: bool = True
) -> None:
    """Edits old into a copy of new: a rule may use one piece of syntax in several places, a tree must not."""
    result.rewrite(old, lambda _: new.deep_clone(), kernel=kernel, counts=counts)


def written(tree: cst.CSTNode) -> Iterator[cst.CSTNode]:
    """What is assigned to or deleted, each part of a tuple by itself: `a.b` in `a.b, c = f()`."""
    for node in walk(tree):
        field = _TARGETS.get(type(node))
        if field is not None:
            yield from _targets(getattr(node, field))


def _targets(target: cst.CSTNode) -> Iterator[cst.CSTNode]:
    if isinstance(target, cst.Tuple | cst.List):
        for element in target.elements:
            yield from _targets(element.value)
    else:
        yield target
