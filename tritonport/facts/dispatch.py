"""Decorators that may run something else instead of the function they decorate.

FLA's dispatcher hands a call to a backend's own function where there is one; left on a host function it would route
around the migrated kernel. Such a decorator is known by what it does: somewhere in it a wrapper forwards its whole
call, `(*args, **kwargs)`, to more than one callable, one of them a parameter of a function around it.
"""

from __future__ import annotations

import ast
from collections.abc import Iterator

from tritonport.discover import Analysis
from tritonport.discover.closure import module_file
from tritonport.discover.index import Definition, External, FunctionNode, Index
from tritonport.discover.parse import ParsedModule, parse_file
from tritonport.discover.reach import Walk
from tritonport.sources.tree import SourceTree

DEPTH = 8
"""Re-exports that are followed."""


class Dispatchers:
    """Finds routing decorators on the host functions that lead to launches."""

    def __init__(self, analysis: Analysis) -> None:
        self._analysis = analysis
        self._routing: dict[str, bool] = {}
        self._walk = Walk(analysis.index)

    def on(self, definition: Definition) -> tuple[int, ...]:
        """Positions of the routing decorators of a host function."""
        node = definition.node
        return tuple(i for i, d in enumerate(node.decorator_list) if self._routes(definition.module, d))

    def leads_to(self, definition: Definition, units: frozenset[str]) -> bool:
        """Whether a host function calls, directly or through others, one of these units (keys `module:name`)."""
        todo, seen = [definition.key], set[str]()
        while todo:
            key = todo.pop()
            if key in units:
                return True
            if key not in seen:
                seen.add(key)
                for found in self._walk.nodes.get(key, ()):
                    todo += self._walk.edges(found.module, found.node)
        return False

    def _routes(self, module: str, decorator: ast.expr) -> bool:
        target = decorator.func if isinstance(decorator, ast.Call) else decorator
        key = f"{module}:{ast.unparse(target)}"
        if key not in self._routing:
            self._routing[key] = any(
                forwards_elsewhere(index, found) for index, found in self._implementations(module, target)
            )
        return self._routing[key]

    def _implementations(self, module: str, target: ast.expr) -> Iterator[tuple[Index, Definition]]:
        index = self._analysis.index
        for meaning in index.meanings(module, target):
            if isinstance(meaning, Definition):
                yield index, meaning
            elif isinstance(meaning, External):
                yield from outside_closure(self._analysis.discovery.tree, meaning.dotted)


def outside_closure(tree: SourceTree, dotted: str, depth: int = 0) -> Iterator[tuple[Index, Definition]]:
    """What a dotted name of the package is defined as in modules that are never input (folders of hand ports).

    Names that such a module only hands on are followed.
    """
    home, _, name = dotted.rpartition(".")
    parsed = parse_any(tree, home)
    if parsed is None or depth > DEPTH:
        return
    index = Index({home: parsed})
    for meaning in index.resolve(home, name):
        if isinstance(meaning, Definition):
            yield index, meaning
        elif isinstance(meaning, External):
            yield from outside_closure(tree, meaning.dotted, depth + 1)


def parse_any(tree: SourceTree, module: str) -> ParsedModule | None:
    """A module of the tree, also of a folder that is never input; None when it is not there or cannot be read."""
    file = module_file(tree, module, hand_ports=True) if module else None
    parsed = parse_file(tree, file) if file is not None else None
    return parsed if isinstance(parsed, ParsedModule) else None


def forwards_elsewhere(index: Index, decorator: Definition) -> bool:
    """Whether a wrapper inside the decorator, or inside what it calls, may call something instead."""
    todo: list[Definition] = [decorator]
    seen: set[str] = set()
    while todo:
        found = todo.pop()
        if found.key in seen:
            continue
        seen.add(found.key)
        if any(_forwards(node, names) for node, names in _wrappers(found.node, ())):
            return True
        todo += _called(index, found)
    return False


def _wrappers(node: ast.AST, outer: tuple[str, ...]) -> Iterator[tuple[FunctionNode, tuple[str, ...]]]:
    """Functions inside a definition that take any call, with the parameters of the functions around them."""
    for child in ast.iter_child_nodes(node):
        if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef):
            names = (*outer, *(a.arg for a in node.args.args))
        else:
            names = outer
        if (
            isinstance(child, ast.FunctionDef | ast.AsyncFunctionDef)
            and child.args.vararg
            and child.args.kwarg
        ):
            yield child, names
        yield from _wrappers(child, names)


def _forwards(wrapper: FunctionNode, outer: tuple[str, ...]) -> bool:
    assert wrapper.args.vararg is not None and wrapper.args.kwarg is not None
    args, kwargs = wrapper.args.vararg.arg, wrapper.args.kwarg.arg
    callees: set[str] = set()
    for node in ast.walk(wrapper):
        if (
            isinstance(node, ast.Call)
            and len(node.args) == 1
            and isinstance(node.args[0], ast.Starred)
            and ast.unparse(node.args[0].value) == args
            and [k.arg for k in node.keywords] == [None]
            and ast.unparse(node.keywords[0].value) == kwargs
        ):
            callees.add(ast.unparse(node.func))
    return len(callees) > 1 and any(name in callees for name in outer)


def _called(index: Index, definition: Definition) -> Iterator[Definition]:
    """Functions of the package that a function mentions, and methods of its module by their names."""
    methods = {
        method.name: Definition(cls.module, method, owner=cls.node.name)
        for cls in index.definitions
        if cls.module == definition.module and isinstance(cls.node, ast.ClassDef)
        for method in cls.node.body
        if isinstance(method, ast.FunctionDef)
    }
    for node in ast.walk(definition.node):
        if isinstance(node, ast.Name):
            for meaning in index.resolve(definition.module, node.id):
                if isinstance(meaning, Definition) and not isinstance(meaning.node, ast.ClassDef):
                    yield meaning
        elif isinstance(node, ast.Attribute) and node.attr in methods:
            yield methods[node.attr]
