"""Every place of a module where a name has to change, as (node, field, new text)."""

from __future__ import annotations

import ast
from collections.abc import Callable, Iterator
from dataclasses import dataclass

from tests.support.shuffle.package import Package, is_dunder
from tests.support.shuffle.scopes import Function, Module, parameters

Namer = Callable[[str], str]


@dataclass(frozen=True, eq=False)
class Rename:
    node: ast.AST
    field: str
    new: str
    index: int | None = None
    """Position in a list-valued field (`global a, b`)."""


class Renamer:
    """Finds the renames of one package. new: maps an old identifier to its new one, always the same."""

    def __init__(self, package: Package, new: Namer) -> None:
        self.package, self.new = package, new
        self.components = package.components()
        self.parameters = package.parameter_names()
        self.named = self.parameters | self.components | package.function_names()

    def path(self, dotted: str) -> str:
        """A dotted module path with every component that changes changed."""
        return ".".join(self.new(part) if part in self.components else part for part in dotted.split("."))

    def of(self, module: Module) -> Iterator[Rename]:
        for node in module.parents:
            method = getattr(self, f"on_{type(node).__name__.lower()}", None)
            if method is not None:
                yield from method(module, node)

    # Names -----------------------------------------------------------------------------------------
    def _bound(self, module: Module, node: ast.AST, name: str) -> bool:
        owner = self.package.owner(module, module.scope_of[node], name)
        return owner is not None and self.package.free(owner, name)

    def on_name(self, module: Module, node: ast.Name) -> Iterator[Rename]:
        if self._bound(module, node, node.id):
            yield Rename(node, "id", self.new(node.id))

    def on_arg(self, module: Module, node: ast.arg) -> Iterator[Rename]:
        if self._bound(module, node, node.arg):
            yield Rename(node, "arg", self.new(node.arg))

    def _definition(self, module: Module, node: Function) -> Iterator[Rename]:
        if self._bound(module, node, node.name):
            yield Rename(node, "name", self.new(node.name))

    on_functiondef = on_asyncfunctiondef = _definition

    def on_excepthandler(self, module: Module, node: ast.ExceptHandler) -> Iterator[Rename]:
        if node.name and self._bound(module, node, node.name):
            yield Rename(node, "name", self.new(node.name))

    def _declared(self, module: Module, node: ast.Global | ast.Nonlocal) -> Iterator[Rename]:
        for index, name in enumerate(node.names):
            if self._bound(module, node, name):
                yield Rename(node, "names", self.new(name), index)

    on_global = on_nonlocal = _declared

    # Imports ---------------------------------------------------------------------------------------
    def on_alias(self, module: Module, node: ast.alias) -> Iterator[Rename]:
        parent = module.parents[node]
        if node.asname and self._bound(module, node, node.asname):
            yield Rename(node, "asname", self.new(node.asname))
        if isinstance(parent, ast.Import):
            if self.package.owns(node.name):
                yield Rename(node, "name", self.path(node.name))
        elif node.name != "*":
            source = module.absolute(parent)
            if self.package.owns(source) and self.package.exported_free(source, node.name):
                yield Rename(node, "name", self.new(node.name))

    def on_importfrom(self, module: Module, node: ast.ImportFrom) -> Iterator[Rename]:
        if node.module and self.package.owns(module.absolute(node)):
            yield Rename(node, "module", self.path(node.module))

    # Attributes of modules -------------------------------------------------------------------------
    def on_attribute(self, module: Module, node: ast.Attribute) -> Iterator[Rename]:
        base = self.package.meaning(module, node.value).module
        if base is not None and self.package.exported_free(base, node.attr):
            yield Rename(node, "attr", self.new(node.attr))

    # Keywords --------------------------------------------------------------------------------------
    def on_call(self, module: Module, node: ast.Call) -> Iterator[Rename]:
        for keyword in node.keywords:
            if keyword.arg is not None and self._keyword_changes(module, node, keyword.arg):
                yield Rename(keyword, "arg", self.new(keyword.arg))

    def _keyword_changes(self, module: Module, call: ast.Call, name: str) -> bool:
        if name not in self.parameters:
            return False
        callee = call.func
        if isinstance(callee, ast.Subscript):  # a launch
            return True
        meaning = self.package.meaning(module, callee)
        if meaning.function is not None:
            return self._takes(meaning.function, name)
        if meaning.external:  # functools.partial(function, name=...)
            first = self.package.meaning(module, call.args[0]) if call.args else meaning
            return first.function is not None and self._takes(first.function, name)
        return meaning.local and isinstance(callee, ast.Name) and self._bound(module, callee, callee.id)

    def _takes(self, function: Function, name: str) -> bool:
        """Whether a keyword reaches a parameter that changes, or a `**` that passes it on."""
        if name in {arg.arg for arg in parameters(function.args)}:
            return self.package.free(self.package.bodies[function], name)
        return function.args.kwarg is not None

    # Strings ---------------------------------------------------------------------------------------
    def on_constant(self, module: Module, node: ast.Constant) -> Iterator[Rename]:
        if not isinstance(node.value, str) or isinstance(module.parents.get(node), (ast.Expr, ast.JoinedStr)):
            return
        new = self._string(module, node, node.value)
        if new != node.value:
            yield Rename(node, "value", new)

    def _string(self, module: Module, node: ast.Constant, text: str) -> str:
        if text == self.package.name:
            return self.new(text)
        if not all(part.isidentifier() for part in text.split(".")):
            return text
        if self._in_all(module, node):
            return self.new(text) if self.package.exported_free(module.name, text) else text
        if "." in text:
            return self._dotted(text)
        if text in self.named and self._structural(module, node):
            return self.new(text)
        return text

    def _dotted(self, text: str) -> str:
        head = text.partition(".")[0]
        if head not in self.components:
            return text
        return ".".join(self.new(part) if part in self.named else part for part in text.split("."))

    def on_joinedstr(self, module: Module, node: ast.JoinedStr) -> Iterator[Rename]:
        """`f'package.{part}.rest'` and `f'{__name__}.rest'`: the constant parts of a module path."""
        if not ast.unparse(node)[2:].startswith((self.package.name + ".", "{__name__}.")):
            return
        for part in node.values:
            if isinstance(part, ast.Constant):
                yield Rename(part, "value", self.path(str(part.value)))

    def _in_all(self, module: Module, node: ast.Constant) -> bool:
        for parent in module.ancestors(node):
            if isinstance(parent, (ast.Assign, ast.AugAssign, ast.AnnAssign)):
                targets = parent.targets if isinstance(parent, ast.Assign) else [parent.target]
                return any(isinstance(t, ast.Name) and t.id == "__all__" for t in targets)
        return False

    def _structural(self, module: Module, node: ast.Constant) -> bool:
        """Whether a string that reads like a name stands where names stand: keys, lists, arguments."""
        parent = module.parents[node]
        if isinstance(parent, (ast.Dict, ast.List, ast.Tuple, ast.Set)):
            return True
        if isinstance(parent, ast.Subscript):
            return not self.package.meaning(module, parent.value).external
        if isinstance(parent, ast.Compare):
            return isinstance(parent.ops[0], (ast.In, ast.NotIn)) and isinstance(
                parent.comparators[0], (ast.Name, ast.Subscript)
            )
        if isinstance(parent, ast.keyword):
            parent = module.parents[parent]
        return isinstance(parent, ast.Call) and self._takes_names(module, parent)

    def _takes_names(self, module: Module, call: ast.Call) -> bool:
        callee = call.func
        if isinstance(callee, ast.Attribute) and callee.attr in ("get", "pop", "setdefault"):
            return not self.package.meaning(module, callee.value).external
        return self.package.meaning(module, callee).function is not None


__all__ = ["Namer", "Rename", "Renamer", "is_dunder"]
