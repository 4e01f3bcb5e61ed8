"""The checks that migrated host functions make before a launch, as questions over the function's own parameters."""

from __future__ import annotations

import ast
from collections.abc import Iterator, Mapping

from tritonport.emit.tree import RUNTIME
from tritonport.record import Assumption

CHECK = "check_assumption"
DEPTH = 8
"""Assignments that are followed."""


def checks(text: str, function: str) -> tuple[Assumption, ...]:
    """What a function of a migrated module checks. guard: over its parameters, None where that cannot be said.

    A check inside a branch is asked of every call: stricter than the function, never laxer.
    """
    tree = ast.parse(text)
    name = _local_name(tree)
    node = next((n for n in tree.body if isinstance(n, ast.FunctionDef) and n.name == function), None)
    if name is None or node is None:
        return ()
    return tuple(dict.fromkeys(_checks(node, name)))


def _local_name(tree: ast.Module) -> str | None:
    """What the module calls the run-time helper."""
    for node in tree.body:
        if isinstance(node, ast.ImportFrom) and (node.module or "").rpartition(".")[2] == RUNTIME:
            for alias in node.names:
                if alias.name == CHECK:
                    return alias.asname or alias.name
    return None


def _checks(function: ast.FunctionDef, name: str) -> Iterator[Assumption]:
    parameters = {a.arg for a in [*function.args.posonlyargs, *function.args.args, *function.args.kwonlyargs]}
    bound = _bindings(function)
    for node in ast.walk(function):
        if isinstance(node, ast.Call) and isinstance(node.func, ast.Name) and node.func.id == name:
            condition, text = node.args
            guard = _over(condition, parameters, bound)
            assert isinstance(text, ast.Constant)
            yield Assumption(name, str(text.value), None if guard is None else ast.unparse(guard))


def _bindings(function: ast.FunctionDef) -> dict[str, ast.expr | None]:
    """The expression that each local name stands for; None for one that is bound twice or some other way."""
    found: dict[str, ast.expr | None] = {}
    given = dict(_assigned(function))
    for node in ast.walk(function):
        if isinstance(node, ast.Name) and isinstance(node.ctx, ast.Store):
            found[node.id] = None if node.id in found else given.get(node.id)
    return found


def _assigned(function: ast.FunctionDef) -> Iterator[tuple[str, ast.expr]]:
    for node in ast.walk(function):
        if isinstance(node, ast.Assign) and len(node.targets) == 1:
            target = node.targets[0]
            if isinstance(target, ast.Name):
                yield target.id, node.value
            elif isinstance(target, ast.Tuple):
                yield from _unpacked(
                    [n.id if isinstance(n, ast.Name) else "" for n in target.elts], node.value
                )


def _unpacked(names: list[str], value: ast.expr) -> Iterator[tuple[str, ast.expr]]:
    """`a, b = x` and `a, b, c = *x, y`: names with what they are bound to."""
    parts = value.elts if isinstance(value, ast.Tuple) else [ast.Starred(value)]
    stars = [i for i, part in enumerate(parts) if isinstance(part, ast.Starred)]
    if len(stars) > 1 or (not stars and len(parts) != len(names)):
        return
    start = stars[0] if stars else len(parts)
    behind = len(parts) - start - 1 if stars else 0
    for place, name in enumerate(names):
        if place < start:
            yield name, parts[place]
        elif place < len(names) - behind:
            star = parts[start]
            assert isinstance(star, ast.Starred)
            yield name, ast.Subscript(star.value, ast.Constant(place - start), ast.Load())
        else:
            yield name, parts[place - len(names)]


def _over(
    condition: ast.expr, parameters: set[str], bound: Mapping[str, ast.expr | None], depth: int = 0
) -> ast.expr | None:
    """The expression over parameters alone, None where a name in it is something else."""
    stopped = False

    class Names(ast.NodeTransformer):
        def visit_Name(self, node: ast.Name) -> ast.expr:
            nonlocal stopped
            if node.id not in bound:
                stopped |= node.id not in parameters
                return node
            value = bound[node.id]
            found = (
                _over(value, parameters, bound, depth + 1) if value is not None and depth < DEPTH else None
            )
            stopped |= found is None
            return found if found is not None else node

    made = Names().visit(ast.parse(ast.unparse(condition), mode="eval").body)
    return None if stopped else made
