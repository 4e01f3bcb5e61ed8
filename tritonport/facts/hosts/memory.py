"""Where the memory comes from that host code holds: a parameter, the call that made it, or somewhere else.

What comes from outside of a function may be one and the same tensor under several names; what a call makes is new.
"""

from __future__ import annotations

import ast
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field

from tritonport.discover import Analysis
from tritonport.discover.index import Definition, External, FunctionNode, Index, Value
from tritonport.discover.launches import is_runtime_call
from tritonport.discover.scopes import argument_names
from tritonport.facts.hosts.syntax import (
    bindings,
    is_number,
    own_nodes,
    pairs,
    passed,
    positions,
    stored_names,
)

OUTSIDE = "outside"
Origin = str | int
"""A parameter's name, OUTSIDE, or the id of the node that made the memory."""
Origins = frozenset[Origin]
Key = tuple[int, frozenset[tuple[str, bool]]]
Held = dict[str, Origins]
"""By local name, at one place."""
NONE: Origins = frozenset()

MAKERS = frozenset(
    {
        "empty",
        "zeros",
        "ones",
        "full",
        "empty_like",
        "zeros_like",
        "ones_like",
        "full_like",
        "rand",
        "randn",
        "arange",
    }
    | {
        "new_empty",
        "new_zeros",
        "new_ones",
        "new_full",
        "new_tensor",
        "tensor",
        "clone",
        "sum",
        "mean",
        "cumsum",
    }
)
"""Functions and methods of torch whose result is new memory."""
_FACTS = frozenset(
    {"shape", "dtype", "device", "ndim", "layout", "is_cuda", "requires_grad", "itemsize", "nbytes"}
)
"""Attributes of a tensor that hold none of its memory."""

_COUNTING = frozenset(
    {"range", "len", "int", "float", "bool", "str", "isinstance", "hasattr", "type", "id", "round"}
)
"""Built-in functions whose result is no memory."""


@dataclass(frozen=True)
class Host:
    """A function of host code, as a caller calls it. home: its module. local: names that it binds.

    numbers: parameters that are annotated as numbers or texts. nested: functions inside it.
    fixed: parameters that are True or False at the call, which decide what of it runs.
    """

    home: str
    node: FunctionNode
    parameters: frozenset[str]
    numbers: frozenset[str]
    local: frozenset[str]
    nested: tuple[FunctionNode, ...]
    fixed: frozenset[tuple[str, bool]] = frozenset()

    @property
    def key(self) -> Key:
        return id(self.node), self.fixed

    @staticmethod
    def of(home: str, node: FunctionNode, fixed: Mapping[str, bool]) -> Host:
        inner = tuple(
            n
            for n in ast.walk(node)
            if isinstance(n, ast.FunctionDef | ast.AsyncFunctionDef) and n is not node
        )
        names = frozenset(name for part in node.body for name in stored_names(part))
        inside = frozenset(name for function in inner for name in argument_names(function.args))
        plain = frozenset(a.arg for a in ast.walk(node.args) if isinstance(a, ast.arg) and is_number(a))
        decided = frozenset((name, value) for name, value in fixed.items() if name not in names)
        return Host(home, node, argument_names(node.args), plain, names | inside, inner, decided)

    def decided(self, test: ast.expr) -> bool | None:
        """What a test on a fixed parameter is, None for any other test."""
        if isinstance(test, ast.UnaryOp) and isinstance(test.op, ast.Not):
            inner = self.decided(test.operand)
            return None if inner is None else not inner
        return dict(self.fixed).get(test.id) if isinstance(test, ast.Name) else None

    def branches(self, statement: ast.If) -> tuple[Sequence[ast.stmt], ...]:
        """The branches that may run: one, where the call decides it."""
        taken = self.decided(statement.test)
        if taken is None:
            return statement.body, statement.orelse
        return (statement.body,) if taken else (statement.orelse,)

    def owns(self, func: ast.expr) -> bool:
        """Whether a dotted name starts with a name that the function itself binds."""
        root = func
        while isinstance(root, ast.Attribute):
            root = root.value
        return isinstance(root, ast.Name) and root.id in self.local | self.parameters


@dataclass
class HostMemory:
    """Answers for every function of a closure; each is read once."""

    analysis: Analysis
    _hosts: dict[Key, Host] = field(default_factory=dict[Key, Host])
    _returned: dict[Key, Origins] = field(default_factory=dict[Key, Origins])
    _states: dict[Key, dict[int, Held]] = field(default_factory=dict[Key, "dict[int, Held]"])

    def host(self, home: str, node: FunctionNode, fixed: Mapping[str, bool] | None = None) -> Host:
        """A function; read once for what is fixed."""
        key = id(node), frozenset((fixed or {}).items())
        if key not in self._hosts:
            self._hosts[key] = Host.of(home, node, fixed or {})
        return self._hosts[key]

    def callee(self, host: Host, call: ast.Call) -> Host | None:
        """The one plain function of the closure that a call calls."""
        meant = () if host.owns(call.func) else self.analysis.index.meanings(host.home, call.func, host.node)
        if len(meant) != 1 or not isinstance(meant[0], Definition) or meant[0].owner is not None:
            return None
        node = meant[0].node
        if isinstance(node, ast.ClassDef) or meant[0].key in self.analysis.functions:
            return None
        return self.host(meant[0].module, node, _fixed(host, call, node))

    def returned(self, host: Host) -> Origins:
        """Where the memory that a function returns may come from, but for what it makes itself."""
        if host.key not in self._returned:
            self._returned[host.key] = host.parameters | {OUTSIDE}
            states = self.states(host)
            found = NONE
            for node in ast.walk(host.node):
                if isinstance(node, ast.Return) and node.value is not None and id(node) in states:
                    found |= self.origins(host, node.value, states[id(node)])
                elif isinstance(node, ast.Yield | ast.YieldFrom):
                    found |= host.parameters | {OUTSIDE}
            self._returned[host.key] = frozenset(o for o in found if not isinstance(o, int))
        return self._returned[host.key]

    def states(self, host: Host) -> dict[int, Held]:
        """What names hold before each statement of a function, by the statement's id."""
        if host.key not in self._states:
            flow = _Flow(self, host)
            self._states[host.key] = flow.states
            held: Held = {name: frozenset({name}) for name in host.parameters - host.numbers}
            flow.run(host.node.body, {**held, **dict.fromkeys(host.numbers, NONE)})
        return self._states[host.key]

    def anywhere(self, host: Host) -> Held:
        """What names hold at any place, and in functions inside this one."""
        held: Held = {}
        for state in self.states(host).values():
            held = either(held, state)
        inner = {
            n
            for f in host.nested
            for n in (*argument_names(f.args), *(m for s in f.body for m in stored_names(s)))
        }
        return {**held, **{name: held.get(name, NONE) | {OUTSIDE} for name in inner}}

    def origins(self, host: Host, expr: ast.AST, held: Held) -> Origins:
        """Where the memory of what an expression holds may come from."""
        if isinstance(expr, ast.Name):
            return held[expr.id] if expr.id in held else self._elsewhere(host, expr)
        if isinstance(expr, ast.Constant | ast.Lambda | ast.Compare | ast.JoinedStr):
            return NONE
        if isinstance(expr, ast.Attribute) and expr.attr in _FACTS:
            return NONE
        if isinstance(expr, ast.UnaryOp) or (
            isinstance(expr, ast.BinOp) and not isinstance(expr.op, ast.Add)
        ):
            return frozenset({id(expr)})
        if isinstance(expr, ast.Call):
            return self._of_call(host, expr, held)
        if isinstance(expr, ast.Subscript):
            return self.origins(host, expr.value, held)
        parts = ast.iter_child_nodes(expr)
        if isinstance(expr, ast.IfExp):
            taken = host.decided(expr.test)
            parts = [part for part, at in ((expr.body, True), (expr.orelse, False)) if taken in (None, at)]
        return NONE.union(*(self.origins(host, part, held) for part in parts))

    def _elsewhere(self, host: Host, name: ast.Name) -> Origins:
        """Modules, functions and classes are no memory; any other name from outside may be."""
        if name.id in host.local:
            return NONE if any(function.name == name.id for function in host.nested) else frozenset({OUTSIDE})
        meant = self.analysis.index.meanings(host.home, name, host.node)
        known = bool(meant) and all(not isinstance(m, Value) or self._is_module(m) for m in meant)
        return NONE if known else frozenset({OUTSIDE})

    def _is_module(self, value: Value) -> bool:
        """`lib = getattr(torch, device)`, what `torch.cuda` is written as where the device is only known later."""
        expr = value.expr
        if not isinstance(expr, ast.Call) or last(expr.func) != "getattr":
            return False
        return bool(self.analysis.index.externals(value.module, expr.args[0]))

    def _of_call(self, host: Host, call: ast.Call, held: Held) -> Origins:
        callee = self.callee(host, call)
        if callee is None:
            if isinstance(call.func, ast.Name) and call.func.id in _COUNTING and not host.owns(call.func):
                return NONE
            if last(call.func) in MAKERS and not any(k.arg == "out" for k in call.keywords):
                return frozenset({id(call)})
            receiver = [call.func.value] if isinstance(call.func, ast.Attribute) else []
            parts = [*(value for _, value in passed(call, ())), *receiver]
            return frozenset({id(call)}).union(*(self.origins(host, part, held) for part in parts))
        back = self.returned(callee)
        given = (v for name, v in passed(call, positions(callee.node)) if name is None or name in back)
        # What stands before a function may hand out one result twice (a cache).
        own: Origins = (
            frozenset({OUTSIDE}) if OUTSIDE in back or not is_plain(self.analysis.index, callee) else NONE
        )
        return (own | {id(call)}).union(*(self.origins(host, value, held) for value in given))


@dataclass
class _Flow:
    """Follows names through a function's body, statement by statement."""

    memory: HostMemory
    host: Host
    states: dict[int, Held] = field(default_factory=dict[int, Held])

    def run(self, body: Sequence[ast.stmt], held: Held) -> Held:
        for statement in body:
            known = self.states.get(id(statement), {})
            self.states[id(statement)] = either(known, self._with_inner(statement, held))
            held = self._after(statement, held)
        return held

    def _with_inner(self, statement: ast.stmt, held: Held) -> Held:
        """With the names that comprehensions inside the statement bind."""
        for node in own_nodes(statement):
            if isinstance(node, ast.comprehension):
                for name, value in pairs(node.target, node.iter):
                    held = {**held, name: self.memory.origins(self.host, value, held)}
        return held

    def _after(self, statement: ast.stmt, held: Held) -> Held:
        if isinstance(statement, ast.FunctionDef | ast.AsyncFunctionDef | ast.ClassDef):
            return {**held, statement.name: NONE}
        if isinstance(statement, ast.Import | ast.ImportFrom):
            return {**held, **{(a.asname or a.name.partition(".")[0]): NONE for a in statement.names}}
        if isinstance(statement, ast.If):
            ways = [self.run(branch, held) for branch in self.host.branches(statement)]
            return either(ways[0], ways[-1])
        if isinstance(statement, ast.For | ast.AsyncFor | ast.While):
            return self._loop(statement, held)
        if isinstance(statement, ast.Try | ast.Match):
            return self._branches(statement, held)
        again = isinstance(statement, ast.AugAssign)
        for name, value in bindings(statement):
            found = self.memory.origins(self.host, value, held)
            held = {**held, name: found | held.get(name, NONE) if again else found}
        return self.run(statement.body, held) if isinstance(statement, ast.With | ast.AsyncWith) else held

    def _loop(self, loop: ast.For | ast.AsyncFor | ast.While, held: Held) -> Held:
        before: Held | None = None
        while held != before:
            before = held
            inside = dict(held)
            for name, value in bindings(loop):
                inside[name] = self.memory.origins(self.host, value, held)
            held = either(held, self.run(loop.body, inside))
        return self.run(loop.orelse, held)

    def _branches(self, statement: ast.Try | ast.Match, held: Held) -> Held:
        """Any part of a `try` may stop anywhere; names that a handler or a pattern binds may be anything."""
        names = {name: frozenset[Origin]({OUTSIDE}) for name in stored_names(statement)}
        unsure = {**held, **{name: held.get(name, NONE) | found for name, found in names.items()}}
        parts = (
            [case.body for case in statement.cases]
            if isinstance(statement, ast.Match)
            else [
                statement.body,
                *(h.body for h in statement.handlers),
                statement.orelse,
                statement.finalbody,
            ]
        )
        after = dict(unsure)
        for part in parts:
            after = either(after, self.run(part, after))
        return after


def _fixed(host: Host, call: ast.Call, node: FunctionNode) -> dict[str, bool]:
    """Parameters of a callee that a call leaves at, or sets to, True or False."""
    given = dict(passed(call, positions(node)))
    if None in given:
        return {}
    args = node.args
    late = zip(reversed([*args.posonlyargs, *args.args]), reversed(args.defaults), strict=False)
    named = zip(args.kwonlyargs, args.kw_defaults, strict=True)
    values: dict[str | None, ast.expr | None] = {a.arg: default for a, default in (*late, *named)} | given
    known = dict(host.fixed)
    found: dict[str, bool] = {}
    for name, value in values.items():
        constant = value.value if isinstance(value, ast.Constant) else known.get(getattr(value, "id", ""))
        if name is not None and isinstance(constant, bool):
            found[name] = constant
    return found


def either(left: Held, right: Held) -> Held:
    """What names hold where two ways meet."""
    return {name: left.get(name, NONE) | right.get(name, NONE) for name in (*left, *right)}


def runtime_helper(index: Index, module: str, call: ast.Call) -> str | None:
    """The helper of the emitted run-time module that is called, whatever the file calls it."""
    if not is_runtime_call(index, module, call):
        return None
    for meaning in index.meanings(module, call.func):
        if isinstance(meaning, Definition):
            return meaning.node.name
        if isinstance(meaning, External):
            return meaning.dotted.rpartition(".")[2]
    return None


def is_plain(index: Index, host: Host) -> bool:
    """Whether a call of a function runs its body: no decorator stands before it, or one that only sees it."""
    found = host.node.decorator_list
    return all(isinstance(d, ast.Call) and runtime_helper(index, host.home, d) == "unrouted" for d in found)


def last(func: ast.expr) -> str:
    """`c` of `a.b.c`."""
    return func.attr if isinstance(func, ast.Attribute) else func.id if isinstance(func, ast.Name) else ""
