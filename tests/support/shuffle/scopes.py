"""Scopes of Python modules: which binding a name means. Nothing here knows any library."""

from __future__ import annotations

import ast
from collections.abc import Iterator
from dataclasses import dataclass, field
from typing import Literal

ScopeKind = Literal["module", "function", "class"]
Function = ast.FunctionDef | ast.AsyncFunctionDef
Comprehension = ast.ListComp | ast.SetComp | ast.DictComp | ast.GeneratorExp


@dataclass(frozen=True)
class Binding:
    """One way in which a scope binds a name.

    own: an assignment, a def, a parameter. fixed: a class, or a parameter whose name others rely on.
    import: `from module import name` (name None: the module itself). alias: it is bound under another name.
    """

    how: Literal["own", "fixed", "import"]
    module: str = ""
    name: str | None = None
    alias: bool = False
    node: ast.AST | None = None


@dataclass(eq=False)
class Scope:
    kind: ScopeKind
    parent: Scope | None
    bound: dict[str, list[Binding]] = field(default_factory=dict)
    outer: set[str] = field(default_factory=set)
    """Names declared global or nonlocal here."""
    stars: list[str] = field(default_factory=list)
    """Modules whose public names are imported by `*`."""

    def bind(self, name: str, binding: Binding) -> None:
        self.bound.setdefault(name, []).append(binding)

    def lookup(self, name: str) -> Scope | None:
        """The scope that binds name as seen from here; None for a builtin or a name from a star import."""
        scope: Scope | None = self
        first = True
        while scope is not None:
            visible = first or scope.kind != "class"
            if visible and name in scope.bound and name not in scope.outer:
                return scope
            scope, first = scope.parent, False
        return None


@dataclass(eq=False)
class Module:
    """One file. name: dotted import name; package: the name that relative imports start from."""

    name: str
    package: str
    tree: ast.Module
    scope: Scope = field(default_factory=lambda: Scope("module", None))
    scope_of: dict[ast.AST, Scope] = field(default_factory=dict)
    """For each node that names or uses something, the scope it stands in."""
    inside: dict[ast.AST, Scope] = field(default_factory=dict)
    """For each function and class, the scope of its body."""
    parents: dict[ast.AST, ast.AST] = field(default_factory=dict)

    def absolute(self, node: ast.ImportFrom) -> str:
        if not node.level:
            return node.module or ""
        parts = self.package.split(".")
        base = parts[: len(parts) - node.level + 1]
        return ".".join([*base, *filter(None, [node.module])])

    def ancestors(self, node: ast.AST) -> Iterator[ast.AST]:
        while node in self.parents:
            node = self.parents[node]
            yield node


def analyse(name: str, is_package: bool, tree: ast.Module) -> Module:
    module = Module(name, name if is_package else name.rpartition(".")[0], tree)
    for node in ast.walk(tree):
        for child in ast.iter_child_nodes(node):
            module.parents[child] = node
    _Builder(module).block(tree.body, module.scope)
    return module


class _Builder:
    """Fills a module's scopes in one walk."""

    def __init__(self, module: Module) -> None:
        self.module = module
        assigned = [node for node in module.parents if isinstance(node, ast.Assign)]
        self.handed_out = {
            node.value.id
            for node in assigned
            if isinstance(node.value, ast.Name) and isinstance(node.targets[0], ast.Attribute)
        }
        """Functions stored in an attribute: whoever owns it may call them by keyword."""

    def block(self, nodes: list[ast.stmt], scope: Scope) -> None:
        for node in nodes:
            self.visit(node, scope)

    def visit(self, node: ast.AST, scope: Scope) -> None:
        self.module.scope_of[node] = scope
        method = getattr(self, f"on_{type(node).__name__.lower()}", None)
        if method is not None:
            method(node, scope)
        else:
            self.children(node, scope)

    def children(self, node: ast.AST, scope: Scope) -> None:
        for child in ast.iter_child_nodes(node):
            self.visit(child, scope)

    # Functions, classes, comprehensions ------------------------------------------------------------
    def _function(self, node: Function, scope: Scope) -> None:
        scope.bind(node.name, Binding("own", node=node))
        for outside in (*node.decorator_list, *filter(None, [node.returns])):
            self.visit(outside, scope)
        inner = Scope("function", scope)
        self.module.inside[node] = inner
        method = scope.kind == "class" and not self._by_position(node)
        self._arguments(node.args, scope, inner, fixed=method or node.name in self.handed_out)
        self.block(node.body, inner)

    on_functiondef = on_asyncfunctiondef = _function

    def on_lambda(self, node: ast.Lambda, scope: Scope) -> None:
        inner = Scope("function", scope)
        self._arguments(node.args, scope, inner, fixed=False)
        self.visit(node.body, inner)

    def _by_position(self, node: Function) -> bool:
        """Methods of an autograd Function are called by position: their parameters are free."""
        owner = self.module.parents[node]
        bases = owner.bases if isinstance(owner, ast.ClassDef) else []
        return any(ast.unparse(base).rpartition(".")[2] == "Function" for base in bases)

    def _arguments(self, node: ast.arguments, outside: Scope, inner: Scope, *, fixed: bool) -> None:
        self.module.scope_of[node] = inner
        for arg in parameters(node):
            self.module.scope_of[arg] = inner
            inner.bind(arg.arg, Binding("fixed" if fixed or arg.arg in ("self", "cls") else "own", node=arg))
            if arg.annotation is not None:
                self.visit(arg.annotation, outside)
        for default in (*node.defaults, *filter(None, node.kw_defaults)):
            self.visit(default, outside)

    def on_classdef(self, node: ast.ClassDef, scope: Scope) -> None:
        scope.bind(node.name, Binding("fixed", node=node))
        for outside in (*node.decorator_list, *node.bases, *node.keywords):
            self.visit(outside, scope)
        inner = Scope("class", scope)
        self.module.inside[node] = inner
        self.block(node.body, inner)

    def _comprehension(self, node: Comprehension, scope: Scope) -> None:
        inner = Scope("function", scope)
        for at, part in enumerate(node.generators):
            self.module.scope_of[part] = inner
            self.visit(part.iter, inner if at else scope)
            self.visit(part.target, inner)
            for test in part.ifs:
                self.visit(test, inner)
        made = (node.key, node.value) if isinstance(node, ast.DictComp) else (node.elt,)
        for item in made:
            self.visit(item, inner)

    on_listcomp = on_setcomp = on_dictcomp = on_generatorexp = _comprehension

    # Bindings --------------------------------------------------------------------------------------
    def on_name(self, node: ast.Name, scope: Scope) -> None:
        if isinstance(node.ctx, (ast.Store, ast.Del)):
            scope.bind(node.id, Binding("own", node=node))

    def on_namedexpr(self, node: ast.NamedExpr, scope: Scope) -> None:
        owner = scope
        while owner.parent is not None and owner not in self.module.inside.values():
            owner = owner.parent
        self.visit(node.value, scope)
        self.module.scope_of[node.target] = owner
        owner.bind(node.target.id, Binding("own", node=node))

    def _declared(self, node: ast.Global | ast.Nonlocal, scope: Scope) -> None:
        scope.outer.update(node.names)

    on_global = on_nonlocal = _declared

    def on_excepthandler(self, node: ast.ExceptHandler, scope: Scope) -> None:
        if node.name:
            scope.bind(node.name, Binding("own", node=node))
        self.children(node, scope)

    def on_import(self, node: ast.Import, scope: Scope) -> None:
        for item in node.names:
            self.module.scope_of[item] = scope
            if item.asname:
                scope.bind(item.asname, Binding("import", item.name, alias=True, node=item))
            else:
                top = item.name.partition(".")[0]
                scope.bind(top, Binding("import", top, node=item))

    def on_importfrom(self, node: ast.ImportFrom, scope: Scope) -> None:
        source = self.module.absolute(node)
        for item in node.names:
            self.module.scope_of[item] = scope
            if item.name == "*":
                scope.stars.append(source)
                continue
            local = item.asname or item.name
            alias = item.asname not in (None, item.name)
            scope.bind(local, Binding("import", source, item.name, alias=alias, node=item))


def parameters(node: ast.arguments) -> list[ast.arg]:
    """All parameters in the order of the signature, `*args` and `**kwargs` included."""
    plain = [*node.posonlyargs, *node.args, *filter(None, [node.vararg])]
    return [*plain, *node.kwonlyargs, *filter(None, [node.kwarg])]
