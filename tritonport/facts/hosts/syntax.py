"""Small readers over the syntax of functions: what is bound, and what a call passes."""

from __future__ import annotations

import ast
from collections.abc import Callable, Iterator, Sequence

from tritonport.discover.scopes import named


def bindings(node: ast.AST) -> Iterator[tuple[str, ast.expr]]:
    """(name, what it is given) of what a statement itself binds, those inside it left out."""
    for item in own_nodes(node):
        if isinstance(item, ast.Assign):
            for target in item.targets:
                yield from pairs(target, item.value)
        elif isinstance(item, ast.AnnAssign | ast.AugAssign | ast.NamedExpr) and item.value is not None:
            yield from pairs(item.target, item.value)
        elif isinstance(item, ast.For | ast.AsyncFor | ast.comprehension):
            yield from pairs(item.target, item.iter)
        elif isinstance(item, ast.withitem) and item.optional_vars is not None:
            yield from pairs(item.optional_vars, item.context_expr)


def pairs(target: ast.expr, value: ast.expr) -> Iterator[tuple[str, ast.expr]]:
    """(name, what it is given) of one target; every part of a tuple that cannot be told apart gets the whole."""
    if isinstance(target, ast.Name):
        yield target.id, value
    elif isinstance(target, ast.Starred):
        yield from pairs(target.value, value)
    elif isinstance(target, ast.Tuple | ast.List):
        given = value.elts if isinstance(value, ast.Tuple | ast.List) else []
        alike = len(given) == len(target.elts)
        plain = alike and not any(isinstance(e, ast.Starred) for e in (*target.elts, *given))
        for place, part in enumerate(target.elts):
            yield from pairs(part, given[place] if plain else value)


def stored_names(node: ast.AST) -> Iterator[str]:
    """Names that are bound or deleted anywhere below a node, as often as they are."""
    for item in ast.walk(node):
        if isinstance(item, ast.Name) and not isinstance(item.ctx, ast.Load):
            yield item.id
        elif isinstance(item, ast.Global | ast.Nonlocal):
            yield from item.names
        yield from named(item)


def passed(call: ast.Call, parameters: Sequence[str]) -> Iterator[tuple[str | None, ast.expr]]:
    """(parameter, argument) of a call; None for a parameter that is not known (`*args`, one too many)."""
    known = True
    for place, value in enumerate(call.args):
        known &= not isinstance(value, ast.Starred)
        yield (parameters[place] if known and place < len(parameters) else None), value
    yield from ((k.arg, k.value) for k in call.keywords)


def positions(function: ast.FunctionDef | ast.AsyncFunctionDef) -> tuple[str, ...]:
    """Parameters that take a position."""
    return tuple(a.arg for a in (*function.args.posonlyargs, *function.args.args))


def is_number(argument: ast.arg) -> bool:
    """Whether a parameter is annotated as `int`, `float | None` and the like: no memory that could be written."""
    if argument.annotation is None:
        return False
    parts = [
        n for n in ast.walk(argument.annotation) if isinstance(n, ast.Name | ast.Constant | ast.Attribute)
    ]
    return all(_is_plain(part) for part in parts)


def _is_plain(part: ast.Name | ast.Constant | ast.Attribute) -> bool:
    if isinstance(part, ast.Name):
        return part.id in ("int", "float", "bool", "str", "Optional")
    return isinstance(part, ast.Constant) and part.value is None


def own_nodes(
    node: ast.AST, decided: Callable[[ast.expr], bool | None] = lambda _: None
) -> Iterator[ast.AST]:
    """A statement's nodes, but for those of statements inside it. decided: what is known of the test of a choice."""
    yield node
    taken = decided(node.test) if isinstance(node, ast.IfExp) else None
    for child in ast.iter_child_nodes(node):
        dead = (
            isinstance(node, ast.IfExp)
            and taken is not None
            and child is (node.orelse if taken else node.body)
        )
        if not isinstance(child, ast.stmt) and not dead:
            yield from own_nodes(child, decided)


def statements(
    body: Sequence[ast.stmt], branches: Callable[[ast.If], Sequence[Sequence[ast.stmt]]]
) -> Iterator[ast.stmt]:
    """Statements and those inside them, but for functions and classes. branches: those of an `if` that may run."""
    for statement in body:
        yield statement
        if isinstance(statement, ast.If):
            for branch in branches(statement):
                yield from statements(branch, branches)
        elif not isinstance(statement, ast.FunctionDef | ast.AsyncFunctionDef | ast.ClassDef):
            yield from statements(list(_below(statement)), branches)


def _below(node: ast.AST) -> Iterator[ast.stmt]:
    """The nearest statements below a node."""
    for child in ast.iter_child_nodes(node):
        if isinstance(child, ast.stmt):
            yield child
        else:
            yield from _below(child)
