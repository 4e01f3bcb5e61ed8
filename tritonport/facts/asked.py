"""Evaluates what host code asks about its device, as the target answers: a small part of Python, nothing is run.

Names are followed through imports, module-level assignments and helper functions to the queries of a table
(`torch.cuda.get_device_capability()`), whose answers are known. Everything else ends in NotFollowed.
"""

from __future__ import annotations

import ast
import operator
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import Any, cast

from tritonport.discover.index import Definition, External, FunctionNode, Index, ModuleRef, Value

Env = Mapping[str, Any]
_COMPARE: dict[type[ast.cmpop], Callable[[Any, Any], Any]] = {
    ast.Eq: operator.eq,
    ast.NotEq: operator.ne,
    ast.Lt: operator.lt,
    ast.LtE: operator.le,
    ast.Gt: operator.gt,
    ast.GtE: operator.ge,
    ast.In: lambda a, b: a in b,
    ast.NotIn: lambda a, b: a not in b,
    ast.Is: operator.is_,
    ast.IsNot: operator.is_not,
}
_BINARY: dict[type[ast.operator], Callable[[Any, Any], Any]] = {
    ast.Add: operator.add,
    ast.Sub: operator.sub,
    ast.Mult: operator.mul,
    ast.FloorDiv: operator.floordiv,
    ast.Mod: operator.mod,
}
_BUILTINS: dict[str, Callable[..., Any]] = {
    "int": int,
    "str": str,
    "bool": bool,
    "len": len,
    "any": any,
    "all": all,
    "tuple": tuple,
    "max": max,
    "min": min,
}
_STRING_METHODS = frozenset({"upper", "lower", "strip", "startswith", "endswith", "split"})
_DEEP = 40


class Size(int):
    """A number that a device says of itself, and what is computed from it.

    A compare with it is no such number, nor is one that the code writes down and chooses by a compare.
    """


class NotFollowed(Exception):
    """The value depends on something that the evaluation does not know."""


class _Error(Exception):
    """An exception that the evaluated code would raise."""


class _Returned(Exception):
    def __init__(self, value: Any) -> None:
        super().__init__()
        self.value = value


def _sizes(answer: Any) -> Any:
    """The numbers of an answer, marked."""
    if isinstance(answer, tuple):
        parts = cast("tuple[Any, ...]", answer)
        return tuple(_sizes(part) for part in parts)
    return Size(answer) if type(answer) is int else answer


def _computed(value: Any, *used: Any) -> Any:
    """A number is a size where one was computed with."""
    sized = any(
        isinstance(part, Size) for item in used for part in (item if isinstance(item, tuple) else (item,))
    )
    return Size(value) if sized and type(value) is int else value


@dataclass(frozen=True)
class Query:
    """One entry of rules/capabilities.toml. wrong: the device raises, or says what is not so."""

    name: str
    answer: Any
    wrong: bool


@dataclass(frozen=True)
class _Outside:
    """Something outside the package, by the path that leads there."""

    path: str


@dataclass(frozen=True)
class _Each:
    """A sequence of unknown length whose items are all this value."""

    item: Any


class _Unknown:
    """An argument whose value does not matter until something is done with it."""


UNKNOWN = _Unknown()


@dataclass
class Evaluator:
    """queries: by name. asked: the queries that the last evaluation met. ran: keys of the functions it went through."""

    index: Index
    queries: Mapping[str, Query]
    asked: dict[str, Query] = field(default_factory=dict[str, Query])
    ran: set[str] = field(default_factory=set[str])
    _depth: int = 0

    def evaluate(self, module: str, expr: ast.expr, env: Env) -> Any:
        """A plain value (bool, int, str, None, or a tuple of them). Raises NotFollowed."""
        self.asked, self.ran = {}, set()
        try:
            result = self._value(module, expr, env)
        except (_Error, RecursionError, TypeError, ValueError, KeyError, IndexError) as error:
            raise NotFollowed(f"raises {type(error).__name__}") from error
        if not _plain(result):
            raise NotFollowed("not a plain value")
        return result

    def _value(self, module: str, expr: ast.expr, env: Env) -> Any:
        visit = getattr(self, f"_{type(expr).__name__.lower()}", None)
        if visit is None or self._depth > _DEEP:
            raise NotFollowed(ast.unparse(expr))
        self._depth += 1
        try:
            return visit(module, expr, env)
        finally:
            self._depth -= 1

    def _known(self, module: str, expr: ast.expr, env: Env) -> Any:
        value = self._value(module, expr, env)
        if isinstance(value, _Unknown | _Outside | _Each | Definition | ModuleRef):
            raise NotFollowed(ast.unparse(expr))
        return value

    def _constant(self, module: str, expr: ast.Constant, env: Env) -> Any:
        return expr.value

    def _tuple(self, module: str, expr: ast.Tuple | ast.List, env: Env) -> Any:
        return tuple(self._value(module, item, env) for item in expr.elts)

    _list = _tuple

    def _name(self, module: str, expr: ast.Name, env: Env) -> Any:
        if expr.id in env:
            found = env[expr.id]
            return self._value(module, found, env) if isinstance(found, ast.expr) else found
        return self._agreed(self._meant(m) for m in self.index.resolve(module, expr.id))

    def _meant(self, meaning: Any) -> Callable[[], Any]:
        if isinstance(meaning, External):
            return lambda: self._outside(meaning.dotted)
        if isinstance(meaning, Value):
            return lambda: self._value(meaning.module, meaning.expr, {})
        return lambda: meaning

    def _agreed(self, found: Any) -> Any:
        values = [value() for value in found]
        if not values or any(value != values[0] for value in values[1:]):
            raise NotFollowed("several values")
        return values[0]

    def _outside(self, path: str) -> Any:
        query = self.queries.get(path)
        if query is None:
            return _Outside(path)
        self.asked[path] = query
        return _sizes(query.answer)

    def _attribute(self, module: str, expr: ast.Attribute, env: Env) -> Any:
        return self._member(self._value(module, expr.value, env), expr.attr)

    def _member(self, base: Any, name: str) -> Any:
        if isinstance(base, _Outside):
            return self._outside(f"{base.path}.{name}")
        if isinstance(base, ModuleRef):
            return self._agreed(self._meant(m) for m in self.index.resolve(base.module, name))
        if isinstance(base, Definition) and isinstance(base.node, ast.ClassDef):
            return self._class_member(base, name)
        if name == "value" and isinstance(base, str | int):  # a member of an enumeration is its value here
            return base
        raise NotFollowed(name)

    def _class_member(self, owner: Definition, name: str) -> Any:
        for node in owner.node.body:
            if isinstance(node, FunctionNode) and node.name == name:
                return Definition(owner.module, node, owner.node.name)
            targets = node.targets if isinstance(node, ast.Assign) else ()
            if isinstance(node, ast.Assign) and any(
                isinstance(t, ast.Name) and t.id == name for t in targets
            ):
                return self._value(owner.module, node.value, {})
        raise _Error("KeyError")

    def _subscript(self, module: str, expr: ast.Subscript, env: Env) -> Any:
        base, key = self._value(module, expr.value, env), self._value(module, expr.slice, env)
        if isinstance(base, _Each):
            return base.item
        if isinstance(base, _Outside):
            return self._outside(f"{base.path}[{key!r}]")
        if isinstance(base, Definition) and isinstance(key, str):
            return self._class_member(base, key)
        if isinstance(base, tuple | str) and isinstance(key, int):
            return base[key]
        raise NotFollowed(ast.unparse(expr))

    def _compare(self, module: str, expr: ast.Compare, env: Env) -> Any:
        left = self._known(module, expr.left, env)
        for op, node in zip(expr.ops, expr.comparators, strict=True):
            right = self._known(module, node, env)
            if not _COMPARE[type(op)](left, right):
                return False
            left = right
        return True

    def _boolop(self, module: str, expr: ast.BoolOp, env: Env) -> Any:
        value: Any = None
        for node in expr.values:
            value = self._known(module, node, env)
            if bool(value) != isinstance(expr.op, ast.And):
                break
        return value

    def _unaryop(self, module: str, expr: ast.UnaryOp, env: Env) -> Any:
        value = self._known(module, expr.operand, env)
        if isinstance(expr.op, ast.Not):
            return not value
        if isinstance(expr.op, ast.USub):
            return _computed(-value, value)
        raise NotFollowed(ast.unparse(expr))

    def _binop(self, module: str, expr: ast.BinOp, env: Env) -> Any:
        run = _BINARY.get(type(expr.op))
        if run is None:
            raise NotFollowed(ast.unparse(expr))
        left, right = self._known(module, expr.left, env), self._known(module, expr.right, env)
        return _computed(run(left, right), left, right)

    def _ifexp(self, module: str, expr: ast.IfExp, env: Env) -> Any:
        return self._value(module, expr.body if self._known(module, expr.test, env) else expr.orelse, env)

    def _listcomp(self, module: str, expr: ast.ListComp | ast.GeneratorExp, env: Env) -> Any:
        """Every item alike: the loop variable is unknown."""
        names = [n.id for g in expr.generators for n in ast.walk(g.target) if isinstance(n, ast.Name)]
        return _Each(self._value(module, expr.elt, {**env, **dict.fromkeys(names, UNKNOWN)}))

    _generatorexp = _listcomp

    def _call(self, module: str, expr: ast.Call, env: Env) -> Any:
        if isinstance(expr.func, ast.Name) and expr.func.id not in env:
            if expr.func.id == "getattr" and len(expr.args) >= 2:
                base = self._value(module, expr.args[0], env)
                return self._member(base, self._known(module, expr.args[1], env))
            run = _BUILTINS.get(expr.func.id)
            if run is not None and not self.index.resolve(module, expr.func.id):
                args = [self._known(module, a, env) for a in expr.args]
                return _computed(run(*args), *args)
        if isinstance(expr.func, ast.Attribute) and expr.func.attr in _STRING_METHODS:
            base = self._value(module, expr.func.value, env)
            if isinstance(base, str):
                return getattr(base, expr.func.attr)(*(self._known(module, a, env) for a in expr.args))
        function = self._value(module, expr.func, env)
        if isinstance(function, _Outside):
            return self._outside(f"{function.path}()")
        if isinstance(function, Definition) and isinstance(function.node, FunctionNode):
            return self._run(function, function.node, module, expr, env)
        raise NotFollowed(ast.unparse(expr))

    def _run(self, found: Definition, node: FunctionNode, module: str, call: ast.Call, env: Env) -> Any:
        self.ran.add(found.key)
        args = [self._argument(module, a, env) for a in call.args]
        if any(ast.unparse(d).rpartition(".")[2] == "classmethod" for d in node.decorator_list):
            owner = next(m for m in self.index.resolve(found.module, found.owner or ""))
            args.insert(0, owner)
        named = {k.arg: self._argument(module, k.value, env) for k in call.keywords if k.arg is not None}
        parameters = [a.arg for a in [*node.args.posonlyargs, *node.args.args]]
        defaults = dict(zip(parameters[::-1], node.args.defaults[::-1], strict=False))
        local: dict[str, Any] = {name: self._value(found.module, d, {}) for name, d in defaults.items()}
        local |= {a.arg: UNKNOWN for a in node.args.kwonlyargs}
        local |= dict(zip(parameters, args, strict=False)) | named
        try:
            self._block(found.module, node.body, local)
        except _Returned as returned:
            return returned.value
        return None

    def _argument(self, module: str, expr: ast.expr, env: Env) -> Any:
        """An argument may be anything: it counts only where the function looks at it."""
        try:
            return self._value(module, expr, env)
        except NotFollowed:
            return UNKNOWN

    def _block(self, module: str, body: list[ast.stmt], env: dict[str, Any]) -> None:
        for node in body:
            if isinstance(node, ast.Return):
                raise _Returned(None if node.value is None else self._value(module, node.value, env))
            if isinstance(node, ast.If):
                self._block(module, node.body if self._known(module, node.test, env) else node.orelse, env)
            elif isinstance(node, ast.Assign) and len(node.targets) == 1:
                self._assign(node.targets[0], self._value(module, node.value, env), env)
            elif isinstance(node, ast.Try):
                self._try(module, node, env)
            elif not isinstance(node, ast.Expr | ast.Pass | ast.Import | ast.ImportFrom):
                raise NotFollowed(f"line {node.lineno}")

    def _try(self, module: str, node: ast.Try, env: dict[str, Any]) -> None:
        try:
            self._block(module, node.body, env)
        except _Error:
            if len(node.handlers) != 1:
                raise
            self._block(module, node.handlers[0].body, env)

    def _assign(self, target: ast.expr, value: Any, env: dict[str, Any]) -> None:
        if isinstance(target, ast.Name):
            env[target.id] = value
        elif isinstance(target, ast.Tuple | ast.List) and isinstance(value, tuple):
            for item, part in zip(target.elts, value, strict=True):  # pyright: ignore[reportUnknownVariableType]
                self._assign(item, part, env)
        else:
            raise NotFollowed(ast.unparse(target))


def _plain(value: Any) -> bool:
    if isinstance(value, tuple):
        return all(_plain(item) for item in value)  # pyright: ignore[reportUnknownVariableType]
    return value is None or isinstance(value, bool | int | str)
