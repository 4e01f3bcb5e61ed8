"""Which assignments of a name can reach a place in its scope (structured control flow only)."""

from __future__ import annotations

import ast
from collections.abc import Iterator
from dataclasses import dataclass
from itertools import pairwise
from typing import TypeAlias

from tritonport.discover.scopes import Scope, bindings, binds_itself, path, scopes_between, set_elsewhere

Bound: TypeAlias = ast.expr | ast.FunctionDef | None
"""A value, a local function, or None for a name that something else binds too (a parameter, a loop, an unpacking)."""


@dataclass(frozen=True)
class _Found:
    bounds: tuple[Bound, ...]
    certain: bool
    """Whether one of them surely happened, so that nothing earlier can be seen."""


_NOTHING = _Found((), certain=False)


def reaching(name: str, scope: Scope, place: ast.AST) -> tuple[Bound, ...]:
    """What the name may be bound to when `place` runs. Empty where the scope does not bind it."""
    nodes = bindings(scope).get(name, ())
    between = scopes_between(scope, place)
    if name in set_elsewhere(scope) or any(binds_itself(inner, name) for inner in between):
        return (None,)
    if not all(_is_plain(node, name) for node in nodes):
        return (None,)
    if between:  # it runs later than it stands: any of the assignments may be the last one
        return _unique([bound for node in nodes for bound in _simple(node, name).bounds])
    return _at(name, scope, place)


def settled(name: str, scope: Scope, first: ast.AST, later: ast.AST) -> bool:
    """Whether a name surely has the same value at two places of one scope: what binds it stands before both, and no
    loop runs it again before the later one."""
    nodes = [node for node in bindings(scope).get(name, ()) if node is not scope]
    if name in set_elsewhere(scope) or any(
        binds_itself(inner, name) for inner in scopes_between(scope, later)
    ):
        return False
    loops = [n for n in path(scope, later) if isinstance(n, ast.For | ast.While | ast.AsyncFor)]
    inside = {id(n) for loop in loops for n in ast.walk(loop)}
    return all(
        getattr(node, "lineno", 0) < getattr(first, "lineno", 0) and id(node) not in inside for node in nodes
    )


def _is_plain(node: ast.AST, name: str) -> bool:
    """`name = value`, annotated or not, or a local function."""
    if isinstance(node, ast.Assign):
        return any(_is_name(target, name) for target in node.targets)
    return isinstance(node, ast.AnnAssign | ast.FunctionDef)


def _at(name: str, scope: Scope, place: ast.AST) -> tuple[Bound, ...]:
    """Follows the flow of control back from a place that runs in the scope itself."""
    found: list[Bound] = []
    for holder, child in reversed(list(pairwise(path(scope, place)))):
        if isinstance(holder, ast.For | ast.While | ast.AsyncFor) and child in (*holder.body, *holder.orelse):
            found += _any_in(holder, name)  # an earlier round of the loop may have bound it
        if isinstance(holder, ast.Try):
            found += _left_behind(holder, child, name)
        for block in _blocks(holder):
            if isinstance(child, ast.stmt) and child in block:
                part = _sequence(block[: block.index(child)], name)
                found += part.bounds
                if part.certain:
                    return _unique(found)
    return _unique(found)


def _left_behind(holder: ast.Try, child: ast.AST, name: str) -> list[Bound]:
    """What the parts of a try statement that ran before, in whole or in part, may have bound."""
    earlier: list[ast.AST] = []
    if child in holder.handlers or child in holder.orelse or child in holder.finalbody:
        earlier += holder.body
    if child in holder.finalbody:
        earlier += [*holder.handlers, *holder.orelse]
    return [bound for node in earlier for bound in _any_in(node, name)]


def _unique(found: list[Bound]) -> tuple[Bound, ...]:
    return tuple({id(item): item for item in found}.values())


def _blocks(node: ast.AST) -> Iterator[list[ast.stmt]]:
    for name in ("body", "orelse", "finalbody"):
        block = getattr(node, name, None)
        if isinstance(block, list):
            yield block


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
        return _sequence(node.body, name)
    if isinstance(node, ast.For | ast.While | ast.Try | ast.AsyncFor | ast.AsyncWith | ast.Match):
        return _Found(tuple(_any_in(node, name)), certain=False)
    return _simple(node, name)


def _simple(node: ast.AST, name: str) -> _Found:
    """What one statement binds the name to; `reaching` has made sure that every one that binds it is of these kinds."""
    if isinstance(node, ast.Assign) and any(_is_name(target, name) for target in node.targets):
        return _Found((node.value,), certain=True)
    if isinstance(node, ast.AnnAssign) and node.value is not None and _is_name(node.target, name):
        return _Found((node.value,), certain=True)
    if isinstance(node, ast.FunctionDef) and node.name == name:
        return _Found((node,), certain=True)
    return _NOTHING


def _is_name(node: ast.expr, name: str) -> bool:
    return isinstance(node, ast.Name) and node.id == name
