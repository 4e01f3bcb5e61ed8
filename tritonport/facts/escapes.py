"""Uses of a kernel in host code that are no launch: handed over, bound with its grid, run by a loop.

Such a use starts the kernel without the sizes that its persistent form needs, so the kernel keeps its own form.
"""

from __future__ import annotations

import ast
from collections.abc import Callable, Iterator
from functools import cache

from tritonport.discover import Analysis
from tritonport.discover.functions import jit_meanings
from tritonport.facts.axes import Refusal

_WAY_OUT = "launch it as kernel[grid](...)"
_ALIASING = (ast.IfExp, ast.Dict, ast.Tuple, ast.List)


def escapes(analysis: Analysis) -> dict[str, Refusal]:
    """Per kernel, the first place where it is used otherwise than by a launch that is followed."""
    kernels = {k.name for k in analysis.discovery.kernels}
    jit_nodes = {id(f.definition.node) for f in analysis.functions.values()}
    launched = {id(node) for site in analysis.sites for node in ast.walk(site.subscript.value)}
    found: dict[str, Refusal] = {}
    read = cache(lambda: _members_read(analysis, launched))
    for module in analysis.index.modules.values():
        for node, parents in _uses(module.tree, (), jit_nodes):
            if id(node) in launched or _aliased(node, parents, read):
                continue
            for key in _meant(analysis, module.name, node):
                if key in kernels:
                    used = ast.unparse(parents[-1])[:60]
                    why = f"it is used here otherwise than by a launch that is followed: `{used}`; {_WAY_OUT}"
                    found.setdefault(key, Refusal(str(module.file), node.lineno, why))
    return found


def _meant(analysis: Analysis, module: str, node: ast.expr) -> tuple[str, ...]:
    """Jit functions that a dotted name stands for, or a member of which it reads (`kernel.run`)."""
    found = jit_meanings(analysis.index, analysis.functions, module, node)
    while not found and isinstance(node, ast.Attribute):
        node = node.value
        found = jit_meanings(analysis.index, analysis.functions, module, node)
    return found


def _uses(
    node: ast.AST, parents: tuple[ast.AST, ...], jit_nodes: set[int]
) -> Iterator[tuple[ast.Name | ast.Attribute, tuple[ast.AST, ...]]]:
    """Names and dotted names that host code reads, with the nodes around them, outermost first."""
    if id(node) in jit_nodes:
        return
    if isinstance(node, ast.Name | ast.Attribute):
        if isinstance(node.ctx, ast.Load):
            yield node, parents
        if isinstance(node, ast.Name) or _dotted(node):
            return
    for child in ast.iter_child_nodes(node):
        yield from _uses(child, (*parents, node), jit_nodes)


def _dotted(node: ast.expr) -> bool:
    return isinstance(node, ast.Name) or (isinstance(node, ast.Attribute) and _dotted(node.value))


def _members_read(analysis: Analysis, launched: set[int]) -> frozenset[str]:
    """Members of anything that are read or written, but for launches that are followed."""
    return frozenset(
        node.attr
        for module in analysis.index.modules.values()
        for node in ast.walk(module.tree)
        if isinstance(node, ast.Attribute) and id(node) not in launched
    )


def _aliased(node: ast.AST, parents: tuple[ast.AST, ...], read: Callable[[], frozenset[str]]) -> bool:
    """`f = kernel`, `f = a if c else b`, `TABLE = {"x": kernel}`: names whose launches are followed.

    In the body of a class they are followed where no member of that name is read otherwise; only then anybody asks
    which are read.
    """
    child = node
    for place, parent in reversed(list(enumerate(parents))):
        if isinstance(parent, ast.Assign | ast.AnnAssign):
            targets = parent.targets if isinstance(parent, ast.Assign) else [parent.target]
            names = [target.id for target in targets if isinstance(target, ast.Name)]
            held = isinstance(parents[place - 1], ast.ClassDef) and not read().isdisjoint(names)
            return parent.value is child and len(names) == len(targets) and not held
        if not isinstance(parent, _ALIASING) or (isinstance(parent, ast.IfExp) and parent.test is child):
            return False
        child = parent
    return False
