"""What names mean: bindings of every module of the closure, followed through imports and re-exports."""

from __future__ import annotations

import ast
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from functools import cached_property
from typing import TypeAlias

from tritonport.discover.closure import absolute_module
from tritonport.discover.parse import ParsedModule

ALIASES = 8
"""Plain assignments (`f = g`) that are followed from a name."""
FunctionNode: TypeAlias = ast.FunctionDef | ast.AsyncFunctionDef


@dataclass(frozen=True)
class Definition:
    """A function or class at the top level of a module of the closure (or a method, with its class in `owner`)."""

    module: str
    node: FunctionNode | ast.ClassDef
    owner: str | None = None

    @property
    def qualname(self) -> str:
        return f"{self.owner}.{self.node.name}" if self.owner else self.node.name

    @property
    def key(self) -> str:
        return f"{self.module}:{self.qualname}"


@dataclass(frozen=True)
class Value:
    """A module-level assignment `name = expr`."""

    module: str
    name: str
    expr: ast.expr


@dataclass(frozen=True)
class ModuleRef:
    """A module of the closure."""

    module: str


@dataclass(frozen=True)
class External:
    """Something outside the package, by its dotted name (`triton.jit`)."""

    dotted: str


@dataclass(frozen=True)
class _Import:
    module: str
    attr: str | None


Meaning: TypeAlias = Definition | Value | ModuleRef | External
_Binding: TypeAlias = Definition | Value | _Import
Imports: TypeAlias = "dict[str, list[_Import]]"


def _statements(body: Iterable[ast.stmt]) -> Iterator[ast.stmt]:
    """Statements at this level, those inside if/try/with/match included: module code may define names there."""
    for node in body:
        yield node
        for name in ("body", "orelse", "finalbody"):
            if not isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef | ast.ClassDef):
                yield from _statements(getattr(node, name, ()))
        for part in (*getattr(node, "handlers", ()), *getattr(node, "cases", ())):
            yield from _statements(part.body)


def _public(dotted: str) -> str:
    """Triton's public name of what its inner modules hold: `triton.language.core.dot` is `triton.language.dot`."""
    for inner in ("triton.language.core.", "triton.language.standard."):
        if dotted.startswith(inner):
            return "triton.language." + dotted.removeprefix(inner)
    return dotted


class Index:
    """Resolves names of the modules of one import closure."""

    def __init__(self, modules: dict[str, ParsedModule]) -> None:
        self.modules = modules
        self._bindings: dict[str, dict[str, list[_Binding]]] = {}
        self._stars: dict[str, list[str]] = {}
        self._imports: dict[int, Imports] = {}
        for module in modules.values():
            self._bind(module)

    def _bind(self, module: ParsedModule) -> None:
        table: dict[str, list[_Binding]] = {}
        self._stars[module.name] = []
        for node in _statements(module.tree.body):
            if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef | ast.ClassDef):
                table.setdefault(node.name, []).append(Definition(module.name, node))
            elif isinstance(node, ast.Assign | ast.AnnAssign) and node.value is not None:
                targets = node.targets if isinstance(node, ast.Assign) else [node.target]
                for target in targets:
                    if isinstance(target, ast.Name):
                        table.setdefault(target.id, []).append(Value(module.name, target.id, node.value))
            elif isinstance(node, ast.Import | ast.ImportFrom):
                for name, found in self._import_bindings(module, node):
                    table.setdefault(name, []).append(found)
        self._bindings[module.name] = table

    def _import_bindings(
        self, module: ParsedModule, node: ast.Import | ast.ImportFrom
    ) -> Iterator[tuple[str, _Import]]:
        if isinstance(node, ast.Import):
            for alias in node.names:
                yield (
                    (alias.asname, _Import(alias.name, None))
                    if alias.asname
                    else (
                        alias.name.split(".")[0],
                        _Import(alias.name.split(".")[0], None),
                    )
                )
            return
        base = absolute_module(module, node)
        for alias in node.names:
            if alias.name == "*":
                self._stars[module.name].append(base)
            else:
                yield alias.asname or alias.name, _Import(base, alias.name)

    def local_imports(self, module: str, function: ast.AST) -> Imports:
        """Imports inside a function, by the name that they bind."""
        key = id(function)
        if key not in self._imports:
            table: Imports = {}
            for node in ast.walk(function):
                if isinstance(node, ast.Import | ast.ImportFrom):
                    for name, found in self._import_bindings(self.modules[module], node):
                        table.setdefault(name, []).append(found)
            self._imports[key] = table
        return self._imports[key]

    def resolve(self, module: str, name: str, scope: ast.AST | None = None) -> tuple[Meaning, ...]:
        """Everything that a name may mean in a module; scope adds the imports inside that function."""
        return tuple(self._resolve(module, name, scope, set()))

    def _resolve(
        self, module: str, name: str, scope: ast.AST | None, seen: set[tuple[str, str]]
    ) -> Iterator[Meaning]:
        if (module, name) in seen:
            return
        seen.add((module, name))
        if scope is not None and name in (local := self.local_imports(module, scope)):
            for found in local[name]:
                yield from self._follow(found, seen)
            return
        bindings = self._bindings.get(module, {}).get(name, [])
        for binding in bindings:
            if isinstance(binding, _Import):
                yield from self._follow(binding, seen)
            else:
                yield binding
        if not bindings:
            for star in self._stars.get(module, ()):
                if star in self.modules:
                    yield from self._resolve(star, name, None, seen)
                elif star.split(".")[0] == "triton":
                    yield External(f"{star}.{name}")

    def _follow(self, found: _Import, seen: set[tuple[str, str]]) -> Iterator[Meaning]:
        if found.attr is None:
            yield ModuleRef(found.module) if found.module in self.modules else External(found.module)
        elif found.module in self.modules or f"{found.module}.{found.attr}" in self.modules:
            yield from self._member(found.module, found.attr, seen)
        else:
            yield External(f"{found.module}.{found.attr}")

    def _member(self, module: str, attr: str, seen: set[tuple[str, str]]) -> Iterator[Meaning]:
        """What `from module import attr` gives: what the module binds, else its submodule of that name."""
        found = list(self._resolve(module, attr, None, seen))
        if not found and f"{module}.{attr}" in self.modules:
            found = [ModuleRef(f"{module}.{attr}")]
        yield from found

    def meanings(self, module: str, expr: ast.expr, scope: ast.AST | None = None) -> tuple[Meaning, ...]:
        """What a dotted expression (`a`, `a.b.c`) may mean."""
        if isinstance(expr, ast.Name):
            return self.resolve(module, expr.id, scope)
        if isinstance(expr, ast.Attribute):
            return tuple(
                found
                for base in self.meanings(module, expr.value, scope)
                for found in self._attribute(base, expr.attr)
            )
        return ()

    def _attribute(self, base: Meaning, attr: str, depth: int = 0) -> Iterator[Meaning]:
        if isinstance(base, Value) and depth < ALIASES and isinstance(base.expr, ast.Name | ast.Attribute):
            for meaning in self.meanings(base.module, base.expr):
                yield from self._attribute(meaning, attr, depth + 1)
        elif isinstance(base, External):
            yield External(f"{base.dotted}.{attr}")
        elif isinstance(base, ModuleRef):
            submodule = f"{base.module}.{attr}"
            yield from self.resolve(base.module, attr) or (
                [ModuleRef(submodule)] if submodule in self.modules else [External(submodule)]
            )
        elif isinstance(base, Definition) and isinstance(base.node, ast.ClassDef):
            for node in base.node.body:
                if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef) and node.name == attr:
                    yield Definition(base.module, node, owner=base.node.name)

    def externals(self, module: str, expr: ast.expr, scope: ast.AST | None = None) -> tuple[str, ...]:
        """Dotted names outside the package that an expression may stand for, through plain module-level aliases."""
        return tuple(self._externals(module, expr, scope, 0))

    def _externals(self, module: str, expr: ast.expr, scope: ast.AST | None, depth: int) -> Iterator[str]:
        for meaning in self.meanings(module, expr, scope):
            if isinstance(meaning, External):
                yield _public(meaning.dotted)
            elif (
                isinstance(meaning, Value)
                and depth < ALIASES
                and isinstance(meaning.expr, ast.Name | ast.Attribute)
            ):
                yield from self._externals(meaning.module, meaning.expr, None, depth + 1)

    def local_name(self, module: str, dotted: str) -> str | None:
        """How a module names something outside the package: `tl`, or `triton.language` where it has `triton` alone."""
        for name in self._bindings.get(module, {}):
            if External(dotted) in self.resolve(module, name):
                return name
        for name in self._bindings.get(module, {}):
            if dotted in self.externals(module, ast.Name(name)):
                return name
        outer, _, last = dotted.rpartition(".")
        known = self.local_name(module, outer) if outer else None
        return f"{known}.{last}" if known else None

    @cached_property
    def definitions(self) -> tuple[Definition, ...]:
        """Top-level functions and classes of all modules, in module and source order."""
        return tuple(
            binding
            for module in self.modules
            for found in self._bindings[module].values()
            for binding in found
            if isinstance(binding, Definition)
        )

    def values(self, module: str) -> Iterator[Value]:
        for found in self._bindings[module].values():
            yield from (b for b in found if isinstance(b, Value))
