"""Which parameters of a jit function it may store through, directly or through helpers."""

from __future__ import annotations

import ast
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, field

from tritonport.discover import Analysis
from tritonport.discover.index import Definition, External
from tritonport.facts.hosts.syntax import bindings, passed

_ATOMIC = "atomic_"


class KernelStores:
    """Asks each jit function once. What cannot be told counts as stored."""

    def __init__(self, analysis: Analysis) -> None:
        self._analysis = analysis
        self._found: dict[str, frozenset[str]] = {}

    def of(self, key: str) -> frozenset[str]:
        """Parameters of `module:function` that point to what it may write."""
        if key not in self._found:
            function = self._analysis.functions[key]
            self._found[key] = frozenset(function.parameters)
            self._found[key] = self._stored(function.definition, function.parameters)
        return self._found[key]

    def _stored(self, definition: Definition, parameters: tuple[str, ...]) -> frozenset[str]:
        assert not isinstance(definition.node, ast.ClassDef)
        numbers = {a.arg for a in _arguments(definition.node) if _is_constexpr(a)}
        flow = _Flow(lambda call: self._written(definition, call))
        flow.run(
            definition.node.body, {name: frozenset({name}) for name in parameters if name not in numbers}
        )
        return frozenset(flow.stored)

    def _written(self, definition: Definition, call: ast.Call) -> Iterator[ast.expr]:
        """The expressions whose memory a call may write."""
        name = call.func.attr if isinstance(call.func, ast.Attribute) else ""
        helpers = self._helpers(definition, call)
        if helpers:
            for key in helpers:
                stored, parameters = self.of(key), self._analysis.functions[key].parameters
                yield from (
                    value for name, value in passed(call, parameters) if name is None or name in stored
                )
        elif name == "store" or name.startswith(_ATOMIC):
            assert isinstance(call.func, ast.Attribute)
            yield call.func.value
            yield from call.args[:1]
            yield from (k.value for k in call.keywords if k.arg == "pointer")
        elif not self._is_tritons(definition, call) and not isinstance(call.func, ast.Attribute):
            yield from (value for _, value in passed(call, ()))

    def _helpers(self, definition: Definition, call: ast.Call) -> tuple[str, ...]:
        meant = self._analysis.index.meanings(definition.module, call.func, definition.node)
        keys = (m.key for m in meant if isinstance(m, Definition))
        return tuple(key for key in keys if key in self._analysis.functions)

    def _is_tritons(self, definition: Definition, call: ast.Call) -> bool:
        """A function of Triton other than a store, or a plain built-in (`range`, `min`)."""
        meant = self._analysis.index.meanings(definition.module, call.func, definition.node)
        dotted = self._analysis.index.externals(definition.module, call.func, definition.node)
        if not meant:
            return isinstance(call.func, ast.Name)
        outside = dotted or [m.dotted for m in meant if isinstance(m, External)]
        return bool(outside) and not any(d.rpartition(".")[2].startswith(_ATOMIC) for d in outside)


Held = dict[str, frozenset[str]]
"""By local name, the parameters whose address it may hold."""


@dataclass
class _Flow:
    """Follows addresses through a body, statement by statement. writes: the expressions that a call writes through."""

    writes: Callable[[ast.Call], Iterator[ast.expr]]
    stored: set[str] = field(default_factory=set[str])

    def run(self, body: Sequence[ast.stmt], held: Held) -> Held:
        for statement in body:
            held = self._statement(statement, held)
        return held

    def _statement(self, statement: ast.stmt, held: Held) -> Held:
        if isinstance(statement, ast.If):
            self._calls(statement.test, held)
            return _either(self.run(statement.body, dict(held)), self.run(statement.orelse, dict(held)))
        if isinstance(statement, ast.For | ast.While):
            before: Held | None = None
            while held != before:
                before = held
                held = _either(held, self.run(statement.body, dict(held)))
            return self.run(statement.orelse, held)
        if isinstance(statement, ast.With):
            return self.run(statement.body, held)
        self._calls(statement, held)
        made = {name: _sources(value, held) for name, value in bindings(statement)}
        again = isinstance(statement, ast.AugAssign)
        return {
            **held,
            **{n: found | held.get(n, frozenset()) if again else found for n, found in made.items()},
        }

    def _calls(self, node: ast.AST, held: Held) -> None:
        for call in (n for n in ast.walk(node) if isinstance(n, ast.Call)):
            for place in self.writes(call):
                self.stored |= _sources(place, held)


def _either(left: Held, right: Held) -> Held:
    return {n: left.get(n, frozenset()) | right.get(n, frozenset()) for n in (*left, *right)}


def _sources(node: ast.AST, held: Held) -> frozenset[str]:
    """Parameters whose address an expression may hold. Neither what was loaded nor a factor of a product is one."""
    if isinstance(node, ast.Name):
        return held.get(node.id, frozenset())
    if isinstance(node, ast.Call) and isinstance(node.func, ast.Attribute) and node.func.attr == "load":
        return frozenset()
    if isinstance(node, ast.Compare) or (
        isinstance(node, ast.BinOp) and not isinstance(node.op, ast.Add | ast.Sub)
    ):
        return frozenset()
    return frozenset[str]().union(*(_sources(child, held) for child in ast.iter_child_nodes(node)))


def _arguments(function: ast.FunctionDef | ast.AsyncFunctionDef) -> list[ast.arg]:
    args = function.args
    return [*args.posonlyargs, *args.args, *args.kwonlyargs]


def _is_constexpr(argument: ast.arg) -> bool:
    annotation = argument.annotation
    return annotation is not None and ast.unparse(annotation).rpartition(".")[2] == "constexpr"
