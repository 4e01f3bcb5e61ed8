"""Walks over LibCST trees without LibCST's own visitors: those rebuild every node that they pass, which is slow."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import fields
from functools import cache

import libcst as cst

_LAYOUT = ("whitespace", "lpar", "rpar", "comma", "semicolon", "equal", "lines", "header", "footer", "bracket")


@cache
def _parts(kind: type[cst.CSTNode]) -> tuple[str, ...]:
    names = (f.name for f in fields(kind))
    return tuple(n for n in names if not any(mark in n for mark in _LAYOUT) and n not in ("indent", "dot"))


def children(node: cst.CSTNode) -> Iterator[cst.CSTNode]:
    """The nodes right below a node that mean something: no commas, brackets, white space."""
    for name in _parts(type(node)):
        value = getattr(node, name)
        if isinstance(value, cst.CSTNode):
            yield value
        elif isinstance(value, (list, tuple)):
            yield from (item for item in value if isinstance(item, cst.CSTNode))  # pyright: ignore


def walk(node: cst.CSTNode) -> Iterator[cst.CSTNode]:
    """The node and everything below it, from the outside in."""
    yield node
    for child in children(node):
        yield from walk(child)


def names_in(node: cst.CSTNode) -> list[cst.Name]:
    """Every name node at or below a node, keywords of calls and attributes included."""
    return [found for found in walk(node) if isinstance(found, cst.Name)]
