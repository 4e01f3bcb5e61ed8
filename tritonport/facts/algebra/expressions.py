"""Evaluates the expressions of a kernel to abstract values, and notes every value and every read of a name."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field, replace

import libcst as cst

from tritonport.facts.algebra import calls, methods, ops
from tritonport.facts.algebra.facts import Defs, KernelFacts, ResolveHelper
from tritonport.facts.algebra.symbols import constexpr
from tritonport.facts.algebra.values import (
    MISSING,
    NONE,
    Const,
    Data,
    Guarded,
    Mask,
    Num,
    Tup,
    Unknown,
    Value,
    assume,
)
from tritonport.facts.walk import code_of, names_in

Env = dict[str, tuple[Value, Defs]]
_BUILTINS = frozenset({"range", "min", "max", "abs", "float", "int", "len", "bool", "isinstance"})
_LITERALS = {"None": NONE, "True": Const(True), "False": Const(False)}


@dataclass
class State:
    """Where the interpretation is: what names hold, which tests hold, which loops are around."""

    env: Env
    tests: dict[str, bool] = field(default_factory=dict[str, bool])
    loops: tuple[cst.CSTNode, ...] = ()

    def fork(self, tests: dict[str, bool]) -> State:
        """A copy for one branch, with values restricted to what the branch's tests leave."""
        env = dict(self.env)
        for name, (known, defs) in self.env.items():
            if not isinstance(known, (Guarded, Tup)):
                continue
            value: Value = known
            for test, outcome in tests.items():
                value = assume(value, test, outcome=outcome)
            if value is not known:
                env[name] = (value, defs)
        return State(env, {**self.tests, **tests}, self.loops)


class Expressions:
    """The expression half of the interpreter."""

    def __init__(self, facts: KernelFacts, resolve: ResolveHelper) -> None:
        self.facts = facts
        self.resolve = resolve
        self.recording = True
        self.assigned: frozenset[str] = frozenset()
        """Names that the kernel's body assigns."""
        self.grid: Mapping[str, str] = {}
        self._numbers: dict[object, int] = {}
        self.inside: cst.FunctionDef | None = None
        """The helper whose body is being interpreted."""
        self._site: tuple[cst.Call, ...] = ()
        self._ticks = 0
        self._kinds: dict[type[cst.CSTNode], Callable[[cst.CSTNode, State], Value]] = {
            cst.Name: self._name,
            cst.Integer: lambda n, s: Const(n.evaluated_value),  # type: ignore[attr-defined]
            cst.Float: lambda n, s: Const(n.evaluated_value),  # type: ignore[attr-defined]
            cst.SimpleString: lambda n, s: Const(n.evaluated_value),  # type: ignore[attr-defined]
            cst.Attribute: self._attribute,
            cst.BinaryOperation: self._binary,
            cst.BooleanOperation: self._boolean,
            cst.UnaryOperation: self._unary,
            cst.Comparison: self._comparison,
            cst.Call: self._call,
            cst.Subscript: self._subscript,
            cst.IfExp: self._choice,
            cst.Tuple: self._tuple,
            cst.List: self._tuple,
        }

    def number_of(self, node: object) -> int:
        """A number of its own for each node at each call site of a helper, the same in every pass over a loop."""
        return self._numbers.setdefault((self._site, node), len(self._numbers))

    def value(self, node: cst.BaseExpression, state: State) -> Value:
        kind = self._kinds.get(type(node))
        result = kind(node, state) if kind else Unknown(f"{type(node).__name__} is not modelled", node)
        self.note(node, result, state)
        return result

    def note(self, node: cst.CSTNode, value: Value, state: State) -> None:
        if not self.recording:
            return
        self._ticks += 1
        self.facts.values[node] = value
        self.facts.order[node] = self._ticks
        self.facts.loops[node] = state.loops
        self.facts.tests[node] = state.tests

    def _name(self, node: cst.CSTNode, state: State) -> Value:
        assert isinstance(node, cst.Name)
        if node.value in state.env:
            value, defs = state.env[node.value]
            if self.recording:
                self.facts.reads[node] = defs
            return Unknown(f"`{node.value}` may have no value here", node) if value == MISSING else value
        if node.value in _LITERALS:
            return _LITERALS[node.value]
        return self._global(node)

    def _global(self, node: cst.BaseExpression) -> Value:
        """A module-level name: a dtype, a function, or a compile-time constant of the module."""
        dotted = self.facts.dotted(node)
        last = (dotted or "").removeprefix("triton.language.")
        if dotted and last in calls.DTYPES:
            return Const(calls.DTypeName(last))
        if dotted and (dotted.startswith("triton") or dotted in _BUILTINS):
            return Const(dotted)
        text = code_of(node)
        return Num(constexpr(text), constexpr=True)

    def _attribute(self, node: cst.CSTNode, state: State) -> Value:
        assert isinstance(node, cst.Attribute)
        root = node.value
        while isinstance(root, cst.Attribute):
            root = root.value
        if isinstance(root, cst.Name) and root.value not in state.env:
            return self._global(node)
        found = methods.attribute(self.value(node.value, state), node.attr.value)
        return found if found is not None else Unknown(f"attribute `{node.attr.value}`", node)

    def _binary(self, node: cst.CSTNode, state: State) -> Value:
        assert isinstance(node, cst.BinaryOperation)
        left, right = self.value(node.left, state), self.value(node.right, state)
        return self._placed(ops.binary(ops.BINARY.get(type(node.operator), "?"), left, right), node)

    def _placed(self, value: Value, node: cst.CSTNode) -> Value:
        """The value; one that is unknown for a reason of this node remembers the node."""
        return replace(value, node=node) if isinstance(value, Unknown) and value.node is None else value

    def _boolean(self, node: cst.CSTNode, state: State) -> Value:
        assert isinstance(node, cst.BooleanOperation)
        left, right = self.value(node.left, state), self.value(node.right, state)
        both = all(is_constexpr(v) for v in (left, right))
        return Mask(None, (), constexpr=both)

    def _unary(self, node: cst.CSTNode, state: State) -> Value:
        assert isinstance(node, cst.UnaryOperation)
        inner = self.value(node.expression, state)
        if isinstance(node.operator, cst.Plus):
            return inner
        if isinstance(node.operator, cst.Minus):
            if isinstance(inner, Const) and isinstance(inner.value, float):
                return Const(-inner.value)
            return self._placed(ops.negate(inner), node)
        return self._placed(ops.invert(inner), node)

    def _comparison(self, node: cst.CSTNode, state: State) -> Value:
        assert isinstance(node, cst.Comparison)
        left = self.value(node.left, state)
        total: Value | None = None
        for target in node.comparisons:
            right = self.value(target.comparator, state)
            one = _one_compare(target.operator, left, right)
            total = one if total is None else ops.binary("&", total, one)
            left = right
        return self._placed(total or NONE, node)

    def _choice(self, node: cst.CSTNode, state: State) -> Value:
        assert isinstance(node, cst.IfExp)
        test = self.value(node.test, state)
        if not is_constexpr(test):
            then, other = self.value(node.body, state), self.value(node.orelse, state)
            return ops.join_values(
                "a choice", f"#{self.number_of(node)}", False, then, other, self.number_of(node)
            )
        if isinstance(test, Const):
            return self.value(node.body if test.value else node.orelse, state)
        text, holds, fails = self.outcomes(node.test)
        if text in state.tests:
            return self.value(node.body if state.tests[text] == holds[text] else node.orelse, state)
        then, other = self.value(node.body, state.fork(holds)), self.value(node.orelse, state.fork(fails))
        return ops.join_values("a choice", text, True, *((then, other) if holds[text] else (other, then)), 0)

    def outcomes(self, test: cst.BaseExpression) -> tuple[str, dict[str, bool], dict[str, bool]]:
        """(text of a test without its `not`, what is known where it holds, what is known where it fails)."""
        outcome = True
        while isinstance(test, cst.UnaryOperation) and isinstance(test.operator, cst.Not):
            test, outcome = test.expression, not outcome
        text = self._key(test)
        holds = {text: outcome}
        if isinstance(test, cst.BooleanOperation) and isinstance(test.operator, cst.And) and outcome:
            holds.update(self.outcomes(test.left)[1])
            holds.update(self.outcomes(test.right)[1])
        return text, holds, {text: not outcome}

    def _key(self, test: cst.BaseExpression) -> str:
        """A test's text; marked as its own where the text does not mean the same everywhere in the kernel."""
        text = code_of(test)
        own = bool(self._site) or any(name.value in self.assigned for name in names_in(test))
        return f"{text} #{self.number_of(test)}" if own else text

    def _tuple(self, node: cst.CSTNode, state: State) -> Value:
        assert isinstance(node, (cst.Tuple, cst.List))
        return Tup(tuple(self.value(element.value, state) for element in node.elements))

    def _subscript(self, node: cst.CSTNode, state: State) -> Value:
        assert isinstance(node, cst.Subscript)
        base = self.value(node.value, state)
        if isinstance(base, Tup) and len(node.slice) == 1 and isinstance(node.slice[0].slice, cst.Index):
            index = ops.number(self.value(node.slice[0].slice.value, state))
            at = index.poly.value if isinstance(index, Num) else None
            return (
                base.items[at] if at is not None and at < len(base.items) else Unknown("a tuple index", node)
            )
        picks = [_pick(element.slice) for element in node.slice]
        if "?" in picks:
            return Unknown("a subscript other than `:` and `None`", node)
        return self._placed(ops.expand(base, picks), node)

    def _call(self, node: cst.CSTNode, state: State) -> Value:
        assert isinstance(node, cst.Call)
        method = self._method(node, state)
        if method is not None:
            return method
        name = self.facts.dotted(node.func)
        args = calls.Args(
            tuple(self.value(a.value, state) for a in node.args if a.keyword is None),
            {a.keyword.value: self.value(a.value, state) for a in node.args if a.keyword is not None},
            node,
            self.number_of(node),
            self.grid,
        )
        if self.recording and name is not None:
            self.facts.calls[node] = name
        if name is not None and (name.startswith("triton.") or name in _BUILTINS):
            if self._site and not calls.is_elementwise(name):
                self.facts.mixing.add(self._site[0])
            return self._placed(calls.call(name, args), node)
        helpers = self.resolve(node.func.value, self.inside) if isinstance(node.func, cst.Name) else ()
        if not helpers:
            if self._site:
                self.facts.mixing.add(self._site[0])
            return args.unknown("a function that is not resolved")
        return _alike([self.inline(helper, args) for helper in helpers], args)

    def inline(self, helper: cst.FunctionDef, args: calls.Args) -> Value:
        raise NotImplementedError

    def _method(self, node: cst.Call, state: State) -> Value | None:
        """`x.to(...)` and its like, for a receiver that is a value of the kernel."""
        func = node.func
        if not isinstance(func, cst.Attribute) or self.facts.dotted(func) is not None:
            return None
        receiver = self.value(func.value, state)
        found = methods.method(receiver, func.attr.value, [self.value(a.value, state) for a in node.args])
        return found if found is not None else Unknown(f"method `{func.attr.value}`", node)


def _one_compare(operator: cst.BaseCompOp, left: Value, right: Value) -> Value:
    op = ops.COMPARE.get(type(operator))
    if op is not None:
        return ops.compare(op, left, right)
    if isinstance(operator, (cst.Is, cst.IsNot)) and isinstance(left, Const) and isinstance(right, Const):
        return Const((left.value is right.value) == isinstance(operator, cst.Is))
    return Mask(None, (), constexpr=True)


def is_constexpr(value: Value) -> bool:
    """Whether a test is decided when the kernel compiles."""
    if isinstance(value, (Num, Mask)):
        return value.constexpr
    if isinstance(value, Guarded):
        return is_constexpr(value.then) and is_constexpr(value.other)
    return isinstance(value, (Const, Tup))


def _pick(element: cst.BaseSlice) -> str:
    if isinstance(element, cst.Slice) and element.lower is None and element.upper is None:
        return ":"
    if (
        isinstance(element, cst.Index)
        and isinstance(element.value, cst.Name)
        and element.value.value == "None"
    ):
        return "None"
    return "?"


def _alike(results: Sequence[Value], args: calls.Args) -> Value:
    """What a call returns that means one of several functions: what all of them return."""
    first = results[0]
    if all(result == first for result in results):
        return first
    shapes = {result.shape if isinstance(result, Data) else None for result in results}
    if len(shapes) > 1 or None in shapes:
        return args.unknown("functions of one name that return different things")
    kinds = {ops.dtype_of(result) for result in results}
    return Data(shapes.pop(), kinds.pop() if len(kinds) == 1 else "?")
