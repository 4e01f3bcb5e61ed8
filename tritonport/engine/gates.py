"""Checks that every output file passes before anything is written."""

from __future__ import annotations

import ast
import io
import tokenize
from collections import Counter
from functools import cache

import libcst as cst

from tritonport.facts.walk import children


class GateError(RuntimeError):
    """A rule broke a file; nothing is written and the tool says so."""


def comments(text: str) -> Counter[str]:
    """How often each comment stands in a text."""
    tokens = tokenize.generate_tokens(io.StringIO(text).readline)
    return Counter(token.string for token in tokens if token.type == tokenize.COMMENT)


def check_output(file: str, before: str, tree: cst.Module, text: str) -> None:
    """Re-parse equality, compilation, comments kept. text: the tree, printed."""
    try:
        compile(text, file, "exec", dont_inherit=True)
        again = cst.parse_module(text)
    except (SyntaxError, cst.ParserSyntaxError) as error:
        raise GateError(f"{file}: the generated text does not parse: {error}") from error
    if not same_structure(again, tree):
        raise GateError(f"{file}: the generated text does not re-parse to the tree that was built")
    lost = comments(before) - comments(text)
    if lost:
        raise GateError(f"{file}: comments were lost: {', '.join(sorted(lost))}")
    gone = top_level_names(before) - top_level_names(text)
    if gone:
        raise GateError(f"{file}: names vanished from the module: {', '.join(sorted(gone))}")


_LAYOUT: tuple[type[cst.CSTNode], ...] = (
    cst.BaseParenthesizableWhitespace,
    cst.TrailingWhitespace,
    cst.EmptyLine,
    cst.Comma,
    cst.LeftParen,
    cst.RightParen,
    cst.Newline,
)


@cache
def _is_layout(kind: type[cst.CSTNode]) -> bool:
    """LibCST's classes are abstract ones, for which isinstance is slow."""
    return issubclass(kind, _LAYOUT)


def same_structure(left: cst.CSTNode, right: cst.CSTNode) -> bool:
    """Whether two trees say the same; who owns a blank line or a space does not count.

    A built tree whose parentheses were lost differs from what its text parses to: `a * (b + c)` printed as `a * b + c`.
    """
    if (
        type(left) is not type(right)
        or getattr(left, "value", None).__class__ is not getattr(right, "value", None).__class__
    ):
        return False
    if isinstance(getattr(left, "value", None), str) and left.value != right.value:  # type: ignore[attr-defined]
        return False
    ours = [child for child in children(left) if not _is_layout(type(child))]
    theirs = [child for child in children(right) if not _is_layout(type(child))]
    return len(ours) == len(theirs) and all(same_structure(a, b) for a, b in zip(ours, theirs, strict=True))


def top_level_names(text: str) -> set[str]:
    """Functions and classes that a module defines, at any depth outside functions."""
    found: set[str] = set()
    todo: list[ast.stmt] = list(ast.parse(text).body)
    while todo:
        node = todo.pop()
        if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef | ast.ClassDef):
            found.add(node.name)
        else:
            todo += [child for child in ast.iter_child_nodes(node) if isinstance(child, ast.stmt)]
    return found
