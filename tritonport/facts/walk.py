"""Fast walks over LibCST trees. LibCST's own visitors and matchers rebuild every node that they pass."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Iterator
from dataclasses import fields
from functools import cache
from typing import TypeVar

import libcst as cst

_Node = TypeVar("_Node", bound=cst.CSTNode)
_LAYOUT = (
    "whitespace",
    "lpar",
    "rpar",
    "comma",
    "semicolon",
    "equal",
    "lines",
    "header",
    "footer",
    "bracket",
)


@cache
def parts(kind: type[cst.CSTNode]) -> tuple[str, ...]:
    """Fields of a node class that mean something, in source order: no commas, brackets, white space."""
    names = (f.name for f in fields(kind))
    return tuple(n for n in names if not any(mark in n for mark in _LAYOUT) and n not in ("indent", "dot"))


@cache
def is_node(kind: type) -> bool:
    """Whether a class is a node class. LibCST's classes are abstract ones, for which isinstance is slow."""
    return issubclass(kind, cst.CSTNode)


@cache
def _every(kind: type[cst.CSTNode]) -> tuple[str, ...]:
    """All fields of a node class, white space too."""
    return tuple(f.name for f in fields(kind))


def children(node: cst.CSTNode, names: tuple[str, ...] | None = None) -> Iterator[cst.CSTNode]:
    """The nodes right below a node that mean something, or those in the fields named."""
    for name in parts(type(node)) if names is None else names:
        value = getattr(node, name)
        kind = type(value)  # pyright: ignore[reportUnknownVariableType]
        if kind is list or kind is tuple:
            yield from (item for item in value if is_node(type(item)))
        elif is_node(kind):
            yield value


def walk(node: cst.CSTNode) -> Iterator[cst.CSTNode]:
    """The node and everything below it, from the outside in, in source order."""
    stack = [node]
    while stack:
        current = stack.pop()
        yield current
        stack.extend(reversed(list(children(current))))


def find(node: cst.CSTNode, kind: type[_Node]) -> list[_Node]:
    """All nodes of one class at or below a node."""
    return [item for item in walk(node) if type(item) is kind]


def names_in(node: cst.CSTNode) -> list[cst.Name]:
    """Every name node at or below a node, keywords of calls and attributes included."""
    return find(node, cst.Name)


def comments_in(node: cst.CSTNode) -> list[cst.Comment]:
    """Every comment at or below a node, in source order; this walk goes through white space too, and is slow."""
    if isinstance(node, cst.Comment):
        return [node]
    return [comment for child in node.children for comment in comments_in(child)]


def comment_counts(nodes: Iterable[cst.CSTNode]) -> Counter[str]:
    """How often each comment stands at or below these nodes."""
    found: Counter[str] = Counter()
    stack = list(nodes)
    while stack:
        current = stack.pop()
        if type(current) is cst.Comment:
            found[current.value] += 1
        else:
            stack.extend(children(current, _every(type(current))))
    return found


def code_of(node: cst.CSTNode) -> str:
    """Source text of a node."""
    return cst.Module(body=[]).code_for_node(node)
