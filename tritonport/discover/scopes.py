"""Which statements bind a name in one scope of host code, by Python's own rules of scope."""

from __future__ import annotations

import ast
from collections.abc import Iterator
from functools import lru_cache
from typing import TypeAlias

Scope: TypeAlias = ast.FunctionDef | ast.AsyncFunctionDef | ast.Module
_FUNCTIONS = (ast.FunctionDef, ast.AsyncFunctionDef)
_COMPREHENSIONS = (ast.ListComp, ast.SetComp, ast.DictComp, ast.GeneratorExp)
_INNER = (*_FUNCTIONS, ast.Lambda, ast.ClassDef, *_COMPREHENSIONS)


def argument_names(arguments: ast.arguments) -> frozenset[str]:
    """Every name that a parameter list binds."""
    starred = [a for a in (arguments.vararg, arguments.kwarg) if a is not None]
    plain = [*arguments.posonlyargs, *arguments.args, *arguments.kwonlyargs, *starred]
    return frozenset(a.arg for a in plain)


@lru_cache(maxsize=4096)
def bindings(scope: Scope) -> dict[str, tuple[ast.AST, ...]]:
    """Per name, the nodes that bind it in this scope, in source order. Parameters are bound by the scope itself."""
    found: dict[str, list[ast.AST]] = {}
    if isinstance(scope, _FUNCTIONS):
        for name in argument_names(scope.args):
            found[name] = [scope]
    for node in own_nodes(scope):
        for name in _names_bound(node):
            found.setdefault(name, []).append(node)
    return {name: tuple(nodes) for name, nodes in found.items()}


def own_nodes(scope: Scope) -> Iterator[ast.AST]:
    """The nodes that run in a scope: bodies of functions, classes and lambdas inside it are scopes of their own."""
    todo: list[ast.AST] = list(reversed(scope.body))
    while todo:
        node = todo.pop()
        yield node
        todo += reversed(list(_parts(node)))


def _parts(node: ast.AST) -> Iterator[ast.AST]:
    if isinstance(node, (*_FUNCTIONS, ast.ClassDef)):
        yield from node.decorator_list
        yield from (
            [*node.args.defaults, *filter(None, node.args.kw_defaults)]
            if isinstance(node, _FUNCTIONS)
            else node.bases
        )
    elif isinstance(node, ast.Lambda):
        yield from (*node.args.defaults, *filter(None, node.args.kw_defaults))
    elif isinstance(node, _COMPREHENSIONS):
        # Its targets are its own; an assignment expression inside it binds in the scope around it.
        yield from (n for n in ast.walk(node) if isinstance(n, ast.NamedExpr))
    else:
        yield from ast.iter_child_nodes(node)


def named(node: ast.AST) -> Iterator[str]:
    """Names that a node binds in a field of its own, not by an `ast.Name`: definitions, imports, handlers, patterns."""
    if isinstance(node, (*_FUNCTIONS, ast.ClassDef)):
        yield node.name
    elif isinstance(node, ast.Import | ast.ImportFrom):
        yield from (alias.asname or alias.name.partition(".")[0] for alias in node.names)
    elif isinstance(node, ast.ExceptHandler | ast.MatchAs | ast.MatchStar):
        yield from [node.name] if node.name is not None else []
    elif isinstance(node, ast.MatchMapping):
        yield from [node.rest] if node.rest is not None else []


def _names_bound(node: ast.AST) -> Iterator[str]:
    yield from named(node)
    if isinstance(node, ast.Name) and isinstance(node.ctx, ast.Del):
        yield node.id
    for target in _targets(node):
        yield from (
            n.id for n in ast.walk(target) if isinstance(n, ast.Name) and isinstance(n.ctx, ast.Store)
        )


def _targets(node: ast.AST) -> list[ast.expr]:
    if isinstance(node, ast.Assign):
        return node.targets
    if isinstance(node, ast.AnnAssign):
        return [node.target] if node.value is not None else []
    if isinstance(node, ast.AugAssign | ast.For | ast.AsyncFor | ast.NamedExpr):
        return [node.target]
    if isinstance(node, ast.With | ast.AsyncWith):
        return [item.optional_vars for item in node.items if item.optional_vars is not None]
    return []


@lru_cache(maxsize=4096)
def set_elsewhere(scope: Scope) -> frozenset[str]:
    """Names of a scope that other code may bind: declared global or nonlocal in it or in a function inside it."""
    declared = (n for n in ast.walk(scope) if isinstance(n, ast.Global | ast.Nonlocal))
    return frozenset(name for node in declared for name in node.names)


def scopes_between(scope: Scope, place: ast.AST) -> tuple[ast.AST, ...]:
    """Functions, lambdas, classes and comprehensions around a place inside a scope, outermost first."""
    return tuple(node for node in path(scope, place)[1:] if isinstance(node, _INNER) and node is not place)


def binds_itself(node: ast.AST, name: str) -> bool:
    """Whether an inner scope has a name of its own."""
    if isinstance(node, ast.Lambda):
        return name in argument_names(node.args)
    if isinstance(node, _COMPREHENSIONS):
        targets = [part.target for part in node.generators]
        return any(isinstance(n, ast.Name) and n.id == name for t in targets for n in ast.walk(t))
    if isinstance(node, ast.ClassDef):
        return any(
            isinstance(n, ast.Name) and n.id == name and isinstance(n.ctx, ast.Store) for n in ast.walk(node)
        )
    return isinstance(node, _FUNCTIONS) and name in bindings(node)


def path(root: ast.AST, place: ast.AST) -> list[ast.AST]:
    """Nodes from the root down to the place; empty where it is not inside."""
    parents = _parents(root)
    found = [place]
    while found[-1] is not root:
        if found[-1] not in parents:
            return []
        found.append(parents[found[-1]])
    return found[::-1]


@lru_cache(maxsize=1024)
def _parents(root: ast.AST) -> dict[ast.AST, ast.AST]:
    return {child: node for node in ast.walk(root) for child in ast.iter_child_nodes(node)}
