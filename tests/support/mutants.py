"""Changes of the surface that change no meaning: parentheses, comments, blank lines, order of keywords."""

from __future__ import annotations

import random
from collections.abc import Sequence

import libcst as cst

_PLAIN = (
    cst.BinaryOperation,
    cst.Comparison,
    cst.BooleanOperation,
    cst.UnaryOperation,
    cst.Call,
    cst.Integer,
)


class _Mutate(cst.CSTTransformer):
    def __init__(self, seed: int) -> None:
        self.random = random.Random(seed)
        self.decorators = 0
        self.comments = 0

    def chance(self, share: float) -> bool:
        return self.random.random() < share

    # A decorator keeps its form: Python 3.8's grammar and readers alike expect a name or a call there.
    def visit_Decorator(self, node: cst.Decorator) -> None:
        self.decorators += 1

    def leave_Decorator(self, original_node: cst.Decorator, updated_node: cst.Decorator) -> cst.Decorator:
        self.decorators -= 1
        return updated_node

    def on_leave(self, original_node: cst.CSTNode, updated_node: cst.CSTNode) -> cst.CSTNode:  # type: ignore[override]
        node = super().on_leave(original_node, updated_node)
        if isinstance(node, cst.Call):
            node = node.with_changes(args=self._keywords(node.args))
        if isinstance(node, _PLAIN) and not self.decorators and self.chance(0.15):
            return node.with_changes(lpar=[cst.LeftParen(), *node.lpar], rpar=[*node.rpar, cst.RightParen()])
        if isinstance(node, cst.SimpleStatementLine):
            return self._line(node)
        return node  # type: ignore[return-value]

    def _keywords(self, args: Sequence[cst.Arg]) -> list[cst.Arg]:
        """The trailing run of plain keywords in another order; commas and layout stay where they are."""
        first = len(args)
        while first and args[first - 1].keyword is not None:
            first -= 1
        if len(args) - first < 2 or not self.chance(0.5):
            return list(args)
        order = list(args[first:])
        self.random.shuffle(order)
        kept = [
            new.with_changes(comma=old.comma, whitespace_after_arg=old.whitespace_after_arg)
            for old, new in zip(args[first:], order, strict=True)
        ]
        return [*args[:first], *kept]

    def _line(self, node: cst.SimpleStatementLine) -> cst.SimpleStatementLine:
        lines = list(node.leading_lines)
        if self.chance(0.1):
            lines.insert(0, cst.EmptyLine(indent=False))
        if self.chance(0.1):
            lines.append(cst.EmptyLine(comment=self._comment()))
        end = node.trailing_whitespace
        if end.comment is None and self.chance(0.1):
            end = end.with_changes(whitespace=cst.SimpleWhitespace("  "), comment=self._comment())
        return node.with_changes(leading_lines=lines, trailing_whitespace=end)

    def _comment(self) -> cst.Comment:
        self.comments += 1
        return cst.Comment(f"# mutant comment {self.comments}")


def mutate(text: str, seed: int) -> str:
    """The same program with another surface; the same seed gives the same text."""
    new = cst.parse_module(text).visit(_Mutate(seed)).code
    compile(new, "mutant", "exec")
    return new
