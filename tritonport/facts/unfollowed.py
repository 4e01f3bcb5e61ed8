"""Calls in device code that discovery cannot follow, where a program id might be asked for unseen.

A task of a loop is handed its program ids. A helper that is reached through a parameter, a local name, a class or
another distribution keeps asking the hardware, and silently gets the id of the core.
"""

from __future__ import annotations

import ast
import builtins
from collections.abc import Callable, Iterator
from functools import cached_property
from typing import Literal

from tritonport.discover import Analysis
from tritonport.discover.functions import NUM_PROGRAMS, PROGRAM_ID, JitFunction, jit_meanings
from tritonport.discover.index import ALIASES, Definition, External, Value
from tritonport.facts.axes import Refusal

Kind = Literal["value", "foreign", "several"]
_COMPILED = ("triton", "math", "builtins")
"""Top-level packages whose functions the compiler knows itself."""
_ASKING = frozenset(dotted.rpartition(".")[2] for dotted in (PROGRAM_ID, NUM_PROGRAMS))


class Unfollowed:
    """asks: whether a jit function, by key, asks for program ids, itself or through what it calls."""

    def __init__(self, analysis: Analysis, asks: Callable[[str], bool]) -> None:
        self._analysis, self._asks = analysis, asks
        self._found: dict[str, Refusal | None] = {}

    def refusal(self, function: JitFunction) -> Refusal | None:
        """The first call of this function that may ask for an id unseen."""
        if function.key not in self._found:
            self._found[function.key] = next(self._refusals(function), None)
        return self._found[function.key]

    def _refusals(self, function: JitFunction) -> Iterator[Refusal]:
        module = function.definition.module
        file = str(self._analysis.index.modules[module].file)
        if (function.uses_program or not function.gives_value) and self._analysis.index.local_name(
            module, "triton.language"
        ) is None:
            why = "its module has no name for triton.language: add `import triton.language as tl`"
            yield Refusal(file, function.definition.node.lineno, why)
        bound, decorators = _bound(function.definition.node), _decorator_calls(function)
        for node in ast.walk(function.definition.node):
            if not isinstance(node, ast.Call) or node in decorators:
                continue
            kind, text = self._kind(module, node.func, bound), ast.unparse(node.func)
            if kind == "foreign":
                why = f"`{text}` comes from elsewhere and may ask for a program id: copy it beside the kernel"
                yield Refusal(file, node.lineno, why)
            elif kind == "several":
                why = f"`{text}` may be one of several functions, which may ask for a program id: call each by its name"
                yield Refusal(file, node.lineno, why)
            elif kind == "value" and self._handed_on:
                why = f"`{text}(...)` may be `{min(self._handed_on)}`, which asks for a program id: call it by its name"
                yield Refusal(file, node.lineno, why)

    def _kind(self, module: str, func: ast.expr, bound: set[str]) -> Kind | None:
        if not isinstance(func, ast.Name | ast.Attribute):
            return "value"
        root = _root(func)
        if root is None or (root.id in bound and func is not root):
            return None  # a method of a value
        if root.id in bound:
            return "value"
        jit = jit_meanings(self._analysis.index, self._analysis.functions, module, func)
        names = self._analysis.index.externals(module, func)
        asked = {PROGRAM_ID, NUM_PROGRAMS} & set(names) or any(self._asks(key) for key in jit)
        if asked and not self._certain(module, func):
            return "several"
        if jit:
            return None
        if names:
            return None if all(name.split(".")[0] in _COMPILED for name in names) else "foreign"
        meanings = self._analysis.index.meanings(module, func)
        known = any(isinstance(m, Definition | External) for m in meanings) or hasattr(builtins, root.id)
        return None if known else "value"

    def _certain(self, module: str, func: ast.expr) -> bool:
        """Whether a name stands for one function: that, or plain assignments that end there (`f = g`)."""
        for _ in range(ALIASES):
            meanings = set(self._analysis.index.meanings(module, func))
            meaning = meanings.pop() if len(meanings) == 1 else None
            if isinstance(meaning, Definition | External):
                return True
            if not isinstance(meaning, Value) or not isinstance(meaning.expr, ast.Name | ast.Attribute):
                return False
            module, func = meaning.module, meaning.expr
        return False

    @cached_property
    def _handed_on(self) -> frozenset[str]:
        """Jit functions that ask for ids and are used as values: other than called in device code or launched."""
        kernels = {key for site in self._analysis.sites for key in site.kernels}
        passed = {id(n) for s in self._analysis.sites for a in _arguments(s.node) for n in ast.walk(a)}
        launched = {id(n) for s in self._analysis.sites for n in ast.walk(s.subscript.value)}
        jit = {id(f.definition.node) for f in self._analysis.functions.values()}
        found: set[str] = set()
        for module in self._analysis.index.modules.values():
            for node, device in _mentions(module.tree, jit, device=False):
                if id(node) in launched:
                    continue
                for key in jit_meanings(self._analysis.index, self._analysis.functions, module.name, node):
                    if (device or id(node) in passed or key not in kernels) and self._asks(key):
                        found.add(key)
        return frozenset(found).union(self._asking_values(jit))

    def _asking_values(self, jit: set[int]) -> Iterator[str]:
        """`program_id` and `num_programs` themselves, where they are read as values: not called in device code."""
        index = self._analysis.index
        for module in index.modules.values():
            names = _ASKING | {
                alias.asname
                for node in ast.walk(module.tree)
                if isinstance(node, ast.ImportFrom)
                for alias in node.names
                if alias.name in _ASKING and alias.asname is not None
            }
            for node, _ in _mentions(module.tree, jit, device=False):
                if (node.id if isinstance(node, ast.Name) else node.attr) in names:
                    yield from {PROGRAM_ID, NUM_PROGRAMS} & set(index.externals(module.name, node))


def _root(expr: ast.expr) -> ast.Name | None:
    """The first name of a dotted name; None where it is no dotted name."""
    while isinstance(expr, ast.Attribute):
        expr = expr.value
    return expr if isinstance(expr, ast.Name) else None


def _bound(node: ast.AST) -> set[str]:
    """Names that a function binds: parameters and assignments."""
    names = {a.arg for a in ast.walk(node) if isinstance(a, ast.arg)}
    return names | {n.id for n in ast.walk(node) if isinstance(n, ast.Name) and isinstance(n.ctx, ast.Store)}


def _decorator_calls(function: JitFunction) -> set[ast.AST]:
    return {n for d in function.definition.node.decorator_list for n in ast.walk(d)}


def _arguments(call: ast.Call) -> Iterator[ast.expr]:
    yield from call.args
    yield from (keyword.value for keyword in call.keywords)


def _mentions(
    node: ast.AST, jit: set[int], *, device: bool
) -> Iterator[tuple[ast.Name | ast.Attribute, bool]]:
    """Names and dotted names that are read as values, and whether in device code; plain calls there are left out."""
    device = device or id(node) in jit
    for child in ast.iter_child_nodes(node):
        if device and isinstance(node, ast.Call) and child is node.func:
            continue
        if isinstance(child, ast.Name | ast.Attribute) and isinstance(child.ctx, ast.Load):
            yield child, device
        yield from _mentions(child, jit, device=device)
