"""What classes hold by assignments in their bodies: `kernel = other`."""

from __future__ import annotations

import ast
from collections.abc import Iterator
from typing import TypeGuard

from tritonport.discover.index import Definition, Index, Value


def members(index: Index, module: str, base: ast.expr, name: str, *, derived: bool) -> Iterator[Value]:
    """What `base.name` may be by the bodies of the classes that `base` means and of their bases.

    derived: also of the classes derived from them, as behind `self`.
    """
    classes = [m for m in index.meanings(module, base) if _is_class(m)]
    found = list(_bases(index, classes))
    if derived:
        found += [
            c for c in _classes(index) if c not in found and any(b in classes for b in _bases(index, [c]))
        ]
    for cls in found:
        yield from _held(cls, name)


def _is_class(meaning: object) -> TypeGuard[Definition]:
    return isinstance(meaning, Definition) and isinstance(meaning.node, ast.ClassDef)


def _classes(index: Index) -> Iterator[Definition]:
    return (definition for definition in index.definitions if _is_class(definition))


def _bases(index: Index, classes: list[Definition]) -> Iterator[Definition]:
    """The classes themselves and all their bases that the closure defines."""
    todo, seen = list(classes), list[Definition]()
    while todo:
        cls = todo.pop()
        if cls in seen:
            continue
        seen.append(cls)
        yield cls
        assert isinstance(cls.node, ast.ClassDef)
        for base in cls.node.bases:
            todo += [m for m in index.meanings(cls.module, base) if _is_class(m)]


def _held(cls: Definition, name: str) -> Iterator[Value]:
    for node in cls.node.body:
        targets = node.targets if isinstance(node, ast.Assign) else []
        if isinstance(node, ast.AnnAssign) and node.value is not None:
            targets = [node.target]
        if any(isinstance(target, ast.Name) and target.id == name for target in targets):
            assert isinstance(node, ast.Assign | ast.AnnAssign) and node.value is not None
            yield Value(cls.module, name, node.value)
