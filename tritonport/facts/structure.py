"""What a kernel computes with, whatever its names: one digest that a renamed copy of a kernel shares.

Names of the function's own (parameters, locals) count as the place where they first appear, jit functions that it calls
by their own digest, everything outside the package by its dotted name. Comments, layout, docstrings, decorators,
defaults and annotations other than constexpr do not count.
"""

from __future__ import annotations

import ast
import builtins
import hashlib
from collections.abc import Iterator

from tritonport.discover import Analysis
from tritonport.discover.functions import JitFunction, jit_meanings, parameters
from tritonport.facts.tiles import CONSTEXPR

_SKIPPED = frozenset({"ctx", "kind", "type_comment", "type_ignores", "annotation"})


class Structures:
    """Digests of the jit functions of one closure, each made once."""

    def __init__(self, analysis: Analysis) -> None:
        self.analysis = analysis
        self._made: dict[str, str] = {}

    def of(self, key: str) -> str:
        """`sha256:...` of one jit function."""
        if key not in self._made:
            self._made[key] = ""  # a function that calls itself adds nothing to its own digest
            function = self.analysis.functions[key]
            text = "\0".join(_Form(self, function).parts())
            self._made[key] = "sha256:" + hashlib.sha256(text.encode()).hexdigest()
        return self._made[key]


class _Form:
    def __init__(self, structures: Structures, function: JitFunction) -> None:
        self.structures, self.module = structures, function.definition.module
        self.node = function.definition.node
        self.places: dict[str, int] = {}
        stored = (
            n.id for n in ast.walk(self.node) if isinstance(n, ast.Name) and isinstance(n.ctx, ast.Store)
        )
        self.own = {*stored, *function.parameters}

    def parts(self) -> Iterator[str]:
        if isinstance(self.node, ast.ClassDef):
            return
        args = self.node.args
        for arg in [*args.posonlyargs, *args.args, *args.kwonlyargs]:
            yield f"{self._place(arg.arg)}{'!' if self._constexpr(arg) else ''}"
        body = self.node.body
        first = body[0]
        documented = isinstance(first, ast.Expr) and isinstance(first.value, ast.Constant)
        for statement in body[1:] if documented else body:
            yield from self._node(statement)

    def _constexpr(self, arg: ast.arg) -> bool:
        index = self.structures.analysis.index
        return arg.annotation is not None and CONSTEXPR in index.externals(self.module, arg.annotation)

    def _place(self, name: str) -> str:
        return f"#{self.places.setdefault(name, len(self.places))}"

    def _node(self, node: ast.AST) -> Iterator[str]:
        if isinstance(node, ast.Name | ast.Attribute):
            known = self._known(node)
            if known is not None:
                yield known
                return
        if isinstance(node, ast.Call):
            yield from self._call(node)
            return
        yield f"({type(node).__name__}"
        for name, value in ast.iter_fields(node):
            if name not in _SKIPPED and value is not None and value != []:
                yield name
                yield from self._value(value)
        yield ")"

    def _value(self, value: object) -> Iterator[str]:
        if isinstance(value, ast.AST):
            yield from self._node(value)
        elif isinstance(value, list):
            for item in value:  # pyright: ignore[reportUnknownVariableType]
                yield from self._value(item)  # pyright: ignore[reportUnknownArgumentType]
            yield ";"
        else:
            yield f"{type(value).__name__} {value!r}"

    def _known(self, node: ast.Name | ast.Attribute) -> str | None:
        """A local name by its place, a jit function by its digest, what lies outside by its dotted name."""
        if isinstance(node, ast.Name) and node.id in self.own:
            return self._place(node.id)
        analysis = self.structures.analysis
        called = jit_meanings(analysis.index, analysis.functions, self.module, node)
        if called:
            return ",".join(self.structures.of(key) for key in called)
        outside = analysis.index.externals(self.module, node)
        if outside:
            return outside[0]
        return (
            f"global {self._place(node.id)}"
            if isinstance(node, ast.Name) and not hasattr(builtins, node.id)
            else None
        )

    def _call(self, node: ast.Call) -> Iterator[str]:
        """Keywords of a jit function count by the place of its parameter."""
        yield "(Call"
        yield from self._node(node.func)
        for arg in node.args:
            yield from self._node(arg)
        analysis = self.structures.analysis
        called = jit_meanings(analysis.index, analysis.functions, self.module, node.func)
        target = analysis.functions[called[0]].definition.node if called else None
        order = parameters(target) if isinstance(target, ast.FunctionDef) else ()
        for keyword in node.keywords:
            name = keyword.arg or "**"
            yield f"@{order.index(name)}" if name in order else name
            yield from self._node(keyword.value)
        yield ")"
