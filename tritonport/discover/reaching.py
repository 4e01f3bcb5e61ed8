"""Which assignments of a local name can reach a place in a function (structured control flow only)."""

from __future__ import annotations

import ast
from collections.abc import Iterator
from dataclasses import dataclass
from itertools import pairwise
from typing import TypeAlias

Bound: TypeAlias = ast.expr | ast.FunctionDef | None
"""A value, a local function, or None for a binding that cannot be followed (a loop target, an unpacking)."""


@dataclass(frozen=True)
class _Found:
    bounds: tuple[Bound, ...]
    certain: bool
    """Whether one of them surely happened, so that nothing earlier can be seen."""


_NOTHING = _Found((), certain=False)


def reaching(name: str, function: ast.AST, place: ast.AST) -> tuple[Bound, ...]:
    """What the name may be bound to when `place` runs. Empty where the function does not bind it."""
    path = _path(function, place)
    found: list[Bound] = []
    for holder, child in reversed(list(pairwise(path))):
        if isinstance(holder, ast.For | ast.While | ast.AsyncFor) and child in (*holder.body, *holder.orelse):
            found += _any_in(holder, name)  # an earlier round of the loop may have bound it
        for block in _blocks(holder):
            if isinstance(child, ast.stmt) and child in block:
                part = _sequence(block[: block.index(child)], name)
                found += part.bounds
                if part.certain:
                    return _unique(found)
        if isinstance(holder, ast.With) and child in holder.body:
            found += [None for item in holder.items if _binds(item.optional_vars, name)]
    return _unique(found)


def _unique(found: list[Bound]) -> tuple[Bound, ...]:
    return tuple({id(item): item for item in found}.values())


def _path(root: ast.AST, place: ast.AST) -> list[ast.AST]:
    """Nodes from the root down to the place."""
    if root is place:
        return [root]
    for child in ast.iter_child_nodes(root):
        below = _path(child, place)
        if below:
            return [root, *below]
    return []


def _blocks(node: ast.AST) -> Iterator[list[ast.stmt]]:
    for name in ("body", "orelse", "finalbody"):
        block = getattr(node, name, None)
        if isinstance(block, list):
            yield block


def _binds(target: ast.AST | None, name: str) -> bool:
    return target is not None and any(isinstance(x, ast.Name) and x.id == name for x in ast.walk(target))


def _any_in(node: ast.AST, name: str) -> list[Bound]:
    found: list[Bound] = []
    for child in ast.walk(node):
        if isinstance(child, ast.stmt):
            found += _simple(child, name).bounds
    return found


def _sequence(block: list[ast.stmt], name: str) -> _Found:
    found: list[Bound] = []
    for statement in reversed(block):
        part = _statement(statement, name)
        found += part.bounds
        if part.certain:
            return _Found(tuple(found), certain=True)
    return _Found(tuple(found), certain=False)


def _statement(node: ast.stmt, name: str) -> _Found:
    if isinstance(node, ast.If):
        then, other = _sequence(node.body, name), _sequence(node.orelse, name)
        return _Found((*then.bounds, *other.bounds), then.certain and other.certain)
    if isinstance(node, ast.With):
        inner = _sequence(node.body, name)
        if any(_binds(item.optional_vars, name) for item in node.items):
            return _Found((*inner.bounds, None), certain=True)
        return inner
    if isinstance(node, ast.For | ast.While | ast.Try | ast.AsyncFor | ast.AsyncWith | ast.Match):
        own = [None] if isinstance(node, ast.For) and _binds(node.target, name) else []
        return _Found((*own, *_any_in(node, name)), certain=False)
    return _simple(node, name)


def _simple(node: ast.stmt, name: str) -> _Found:
    if isinstance(node, ast.Assign) and any(_binds(t, name) for t in node.targets):
        plain = any(isinstance(t, ast.Name) and t.id == name for t in node.targets)
        return _Found((node.value if plain else None,), certain=True)
    if isinstance(node, ast.AnnAssign) and node.value is not None and _binds(node.target, name):
        return _Found((node.value,), certain=True)
    if isinstance(node, ast.AugAssign) and _binds(node.target, name):
        return _Found((None,), certain=True)
    if isinstance(node, ast.FunctionDef) and node.name == name:
        return _Found((node,), certain=True)
    return _NOTHING
