"""Which top-level functions and classes are reachable from the entry, by the names that they mention."""

from __future__ import annotations

import ast
from collections.abc import Iterator

from tritonport.discover.index import Definition, Index, Meaning, Value

MODULE = "<module>"


def _mentions(node: ast.AST) -> Iterator[ast.expr]:
    """Names and dotted names that a piece of code reads, outermost attribute first."""
    for item in ast.walk(node):
        if isinstance(item, ast.Name | ast.Attribute) and isinstance(item.ctx, ast.Load):
            yield item


def _unit(meaning: Meaning) -> Iterator[str]:
    if isinstance(meaning, Definition):
        yield f"{meaning.module}:{(meaning.owner or meaning.node.name)}"


class Walk:
    """Follows the names that definitions mention."""

    def __init__(self, index: Index) -> None:
        self.index = index
        self.nodes: dict[str, list[Definition]] = {}
        for definition in index.definitions:
            self.nodes.setdefault(definition.key, []).append(definition)

    def edges(self, module: str, node: ast.AST) -> Iterator[str]:
        scope = node if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef | ast.ClassDef) else None
        for mention in _mentions(node):
            yield from self._targets(module, mention, scope, 0)

    def _targets(self, module: str, expr: ast.expr, scope: ast.AST | None, depth: int) -> Iterator[str]:
        for meaning in self.index.meanings(module, expr, scope):
            yield from _unit(meaning)
            if isinstance(meaning, Value) and depth < 8:
                for mention in _mentions(meaning.expr):
                    yield from self._targets(meaning.module, mention, None, depth + 1)


def reachable_units(index: Index, entry_modules: tuple[str, ...]) -> frozenset[str]:
    """Keys `module:name` of every top-level function and class reachable from the entry modules' code."""
    walk = Walk(index)
    todo: list[str] = []
    for module in entry_modules:
        if module in index.modules:
            todo += [d.key for d in index.definitions if d.module == module]
            todo += list(walk.edges(module, index.modules[module].tree))
    seen: set[str] = set()
    while todo:
        key = todo.pop()
        if key in seen:
            continue
        seen.add(key)
        for definition in walk.nodes.get(key, ()):
            todo += [edge for edge in walk.edges(definition.module, definition.node) if edge not in seen]
    return frozenset(seen)
