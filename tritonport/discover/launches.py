"""Launch sites: `kernel[grid](...)` in host code, the kernel named directly or through an alias."""

from __future__ import annotations

import ast
from collections.abc import Iterator
from dataclasses import dataclass, field

from tritonport.discover.functions import JitFunction, jit_meanings
from tritonport.discover.grids import GridExpr, grid_of
from tritonport.discover.index import Definition, FunctionNode, Imports, Index, ModuleRef
from tritonport.discover.members import members
from tritonport.discover.scopes import Scope

RUNTIME_MODULE = "tritonport_runtime"
"""Last part of the import name of the run-time module that a migration emits."""


@dataclass(frozen=True)
class LaunchSite:
    """One launch with its syntax.

    ordinal: position among the calls of a subscript in its file, in source order; a rule finds the call again by it.
    wrapped: whether the kernel already goes through the emitted run-time module (the output of an earlier run).
    scope: the innermost function around it, or the module.
    """

    module: str
    node: ast.Call
    ordinal: int
    host: str
    unit: str
    kernels: tuple[str, ...]
    grids: tuple[GridExpr, ...]
    wrapped: bool
    scope: Scope

    @property
    def subscript(self) -> ast.Subscript:
        assert isinstance(self.node.func, ast.Subscript)
        return self.node.func

    @property
    def grid(self) -> GridExpr:
        """The first grid; sites whose grids differ in rank or form are refused where it matters."""
        return self.grids[0]


@dataclass
class _Host:
    """The function around a node: its qualified name, the top-level unit it belongs to, the function node."""

    qualname: str
    unit: str
    functions: list[FunctionNode] = field(default_factory=list[FunctionNode])


class _Finder(ast.NodeVisitor):
    def __init__(self) -> None:
        self.found: list[tuple[ast.Call, _Host]] = []
        self._host = _Host("<module>", "<module>")

    def _enter(self, node: FunctionNode | ast.ClassDef) -> None:
        outer = self._host
        name = node.name if outer.qualname == "<module>" else f"{outer.qualname}.{node.name}"
        unit = node.name if outer.unit == "<module>" else outer.unit
        functions = outer.functions if isinstance(node, ast.ClassDef) else [*outer.functions, node]
        self._host = _Host(name, unit, functions)
        self.generic_visit(node)
        self._host = outer

    def visit_FunctionDef(self, node: ast.FunctionDef) -> None:
        self._enter(node)

    def visit_AsyncFunctionDef(self, node: ast.AsyncFunctionDef) -> None:
        self._enter(node)

    def visit_ClassDef(self, node: ast.ClassDef) -> None:
        self._enter(node)

    def visit_Call(self, node: ast.Call) -> None:
        if isinstance(node.func, ast.Subscript):
            self.found.append((node, self._host))
        self.generic_visit(node)


def subscript_calls(tree: ast.Module) -> list[tuple[ast.Call, _Host]]:
    """Every `x[...](...)` in source order (outer before inner where both start at one place)."""
    finder = _Finder()
    finder.visit(tree)
    return sorted(finder.found, key=lambda item: _place(item[0]))


def _place(call: ast.Call) -> tuple[int, int, int, int]:
    return call.lineno, call.col_offset, -(call.end_lineno or 0), -(call.end_col_offset or 0)


def launch_sites(index: Index, functions: dict[str, JitFunction]) -> tuple[LaunchSite, ...]:
    """Every launch of a known kernel in the closure, in module and source order."""
    jit_nodes = {id(f.definition.node) for f in functions.values()}
    found: list[LaunchSite] = []
    for module in index.modules.values():
        for ordinal, (call, host) in enumerate(subscript_calls(module.tree)):
            if any(id(f) in jit_nodes for f in host.functions):
                continue
            assert isinstance(call.func, ast.Subscript)
            target, wrapped = _unwrap(index, module.name, call.func.value, host)
            kernels = _KernelValues(index, functions, module.name, host).of(target)
            if kernels:
                scopes = [*reversed(host.functions), module.tree]
                grids = grid_of(call.func.slice, scopes, call)
                site = (module.name, call, ordinal, host.qualname, host.unit)
                found.append(LaunchSite(*site, kernels, grids, wrapped, scopes[0]))
    return tuple(found)


def is_runtime_call(index: Index, module: str, expr: ast.expr) -> bool:
    """A call of a helper of the emitted run-time module."""
    if not isinstance(expr, ast.Call):
        return False
    names = [*index.externals(module, expr.func)]
    names += [m.module for m in index.meanings(module, expr.func) if isinstance(m, Definition | ModuleRef)]
    return any(RUNTIME_MODULE in name.split(".") for name in names)


def _unwrap(index: Index, module: str, expr: ast.expr, host: _Host) -> tuple[ast.expr, bool]:
    wrapped = False
    while isinstance(expr, ast.Call) and expr.args and is_runtime_call(index, module, expr):
        expr, wrapped = expr.args[0], True
    return expr, wrapped


def _choices(expr: ast.expr) -> list[ast.expr]:
    """The parts of an expression, one of which is the kernel that is launched."""
    if isinstance(expr, ast.IfExp):
        return [expr.body, expr.orelse]
    if isinstance(expr, ast.Subscript):
        return [expr.value]
    if isinstance(expr, ast.Dict):
        return expr.values
    if isinstance(expr, ast.Tuple | ast.List):
        return expr.elts
    return expr.args if isinstance(expr, ast.Call) else []


class _KernelValues:
    """Which kernels an expression may be at a launch, following local aliases."""

    def __init__(self, index: Index, functions: dict[str, JitFunction], module: str, host: _Host) -> None:
        self.index, self.functions, self.module, self.host = index, functions, module, host

    def of(self, expr: ast.expr) -> tuple[str, ...]:
        return tuple(dict.fromkeys(self._of(expr, frozenset())))

    def _of(self, expr: ast.expr, seen: frozenset[str]) -> Iterator[str]:
        if isinstance(expr, ast.Name):
            if expr.id in seen:
                return
            local = list(self._local(expr.id))
            for value in local:
                yield from self._of(value, seen | {expr.id})
            if not local:
                yield from self._global(expr)
        elif isinstance(expr, ast.Attribute):
            yield from self._attribute(expr)
        else:
            for value in _choices(expr):
                yield from self._of(value, seen)

    def _local(self, name: str) -> Iterator[ast.expr]:
        for function in self.host.functions:
            for node in ast.walk(function):
                targets = node.targets if isinstance(node, ast.Assign) else []
                if isinstance(node, ast.AnnAssign):
                    targets = [node.target]
                named = any(isinstance(target, ast.Name) and target.id == name for target in targets)
                if named and isinstance(node, ast.Assign | ast.AnnAssign) and node.value is not None:
                    yield node.value

    def _imports(self) -> Imports:
        table: Imports = {}
        for function in self.host.functions:
            table.update(self.index.local_imports(self.module, function))
        return table

    def _global(self, expr: ast.expr) -> Iterator[str]:
        scope = self.host.functions[0] if self.host.functions and self._imports() else None
        for key in jit_meanings(self.index, self.functions, self.module, expr):
            yield key
        if scope is not None:
            for meaning in self.index.meanings(self.module, expr, scope):
                key = getattr(meaning, "key", None)
                if key in self.functions:
                    yield key

    def _attribute(self, expr: ast.Attribute) -> Iterator[str]:
        """`module.kernel`, `Class.kernel`, and `self.kernel` / `cls.kernel` inside the class that holds it.

        A class holds what its body defines and what it names there (`kernel = other`), and what its bases hold; behind
        `self` may also be a class derived from it.
        """
        yield from self._global(expr)
        own = (
            isinstance(expr.value, ast.Name)
            and expr.value.id in ("self", "cls")
            and "." in self.host.qualname
        )
        key = f"{self.module}:{self.host.unit}.{expr.attr}"
        if own and key in self.functions:
            yield key
        base = ast.Name(self.host.unit) if own else expr.value
        for held in members(self.index, self.module, base, expr.attr, derived=own):
            host = _Host("<module>", "<module>")
            yield from _KernelValues(self.index, self.functions, held.module, host).of(held.expr)
