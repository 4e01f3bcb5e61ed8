"""Names that do not clash."""

from __future__ import annotations

import ast
from collections.abc import Collection
from functools import lru_cache

from tritonport.discover.scopes import named


def fresh(name: str, taken: Collection[str]) -> str:
    """The name itself, or with underscores until nothing else has it."""
    while name in taken:
        name += "_"
    return name


@lru_cache(maxsize=4096)
def names_of(tree: ast.Module, apart_from: str = "") -> frozenset[str]:
    """Every name that a module binds or reads anywhere, but for what it imports from the module `apart_from`."""
    found: set[str] = set()
    apart: set[str] = set()
    for node in ast.walk(tree):
        if isinstance(node, ast.Name):
            found.add(node.id)  # also where it is read alone: an `import *` may bind it
        elif isinstance(node, ast.arg):
            found.add(node.arg)
        else:
            is_apart = isinstance(node, ast.ImportFrom) and node.module == apart_from
            (apart if is_apart else found).update(named(node))
    return frozenset(found - apart)
