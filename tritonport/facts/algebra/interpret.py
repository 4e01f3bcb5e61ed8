"""One forward pass over a kernel's statements: assignments, branches, loops, and calls of simple helpers."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

import libcst as cst

from tritonport.facts.algebra import calls, induction, ops, symbols
from tritonport.facts.algebra.expressions import Env, Expressions, State, is_constexpr
from tritonport.facts.algebra.facts import Def, Defs, Dotted, KernelFacts, ResolveHelper
from tritonport.facts.algebra.parameters import pointer_parameters
from tritonport.facts.algebra.poly import ZERO
from tritonport.facts.algebra.values import MISSING, NONE, Const, Guarded, Num, Ptr, Tup, Unknown, Value
from tritonport.facts.walk import children, code_of, walk

_MAX_INLINE = 4


def analyse(
    function: cst.FunctionDef,
    resolve: ResolveHelper | None = None,
    dotted: Dotted | None = None,
    grid: Mapping[str, str] | None = None,
) -> KernelFacts:
    """The facts about one jit function. Nodes of the facts are nodes of this very tree.

    resolve: gives the definitions of a helper jit function by its name, and by the helper that calls it, if one does.
    dotted: gives the full name of a library function (`tl.load` -> `triton.language.load`), None for anything else.
    grid: for axes of the grid (`"1"`), the parameter that every launch passes as the size of the axis.
    """
    facts = KernelFacts(function, dotted or default_dotted)
    _note_parents(function, facts)
    interpreter = Interpreter(facts, resolve or (lambda name, inside: ()))
    interpreter.grid = grid or {}
    interpreter.assigned = frozenset(assigned_names(function.body))
    interpreter.block(function.body, interpreter.start(function))
    return facts


def default_dotted(node: cst.BaseExpression) -> str | None:
    """Full names under the usual `import triton.language as tl`."""
    parts: list[str] = []
    while isinstance(node, cst.Attribute):
        parts.append(node.attr.value)
        node = node.value
    if not isinstance(node, cst.Name):
        return None
    if node.value == "tl":
        return ".".join(["triton.language", *reversed(parts)])
    if node.value == "triton":
        return ".".join(["triton", *reversed(parts)])
    return node.value if not parts and node.value in ("range", "min", "max", "abs", "float", "int") else None


def _note_parents(node: cst.CSTNode, facts: KernelFacts) -> None:
    for child in children(node):
        facts.parents[child] = node
        _note_parents(child, facts)


class Interpreter(Expressions):
    """The statement half. A state whose env is dropped (None) is one that a return has left."""

    def __init__(self, facts: KernelFacts, resolve: ResolveHelper) -> None:
        super().__init__(facts, resolve)
        self._returned: list[tuple[dict[str, bool], Value]] = []
        self._depth = 0

    def start(self, function: cst.FunctionDef) -> State:
        env: Env = {}
        pointers = pointer_parameters(function)
        for param in (*function.params.params, *function.params.kwonly_params):
            name = param.name.value
            env[name] = (
                parameter_value(param, name in pointers),
                frozenset({self._def(param.name, "param", param)}),
            )
        return State(env)

    def _def(
        self, target: cst.Name, kind: str, node: cst.CSTNode, expr: cst.BaseExpression | None = None
    ) -> Def:
        if self._depth:
            return Def(target.value, kind, node, target, expr)
        return self.facts.defs.setdefault(target, Def(target.value, kind, node, target, expr))

    def block(self, body: cst.BaseSuite, state: State | None) -> State | None:
        for statement in body.body:
            if state is None:
                return None
            state = self._statement(statement, state)
        return state

    def _statement(self, node: cst.CSTNode, state: State) -> State | None:
        if isinstance(node, cst.BaseSmallStatement):  # of a block on one line with its test
            return state if self._small(node, state) else None
        if isinstance(node, cst.SimpleStatementLine):
            for small in node.body:
                if not self._small(small, state):
                    return None
            return state
        if isinstance(node, cst.If):
            return self._if(node, state)
        if isinstance(node, (cst.For, cst.While)):
            return self._loop(node, state)
        if isinstance(node, cst.With):
            return self.block(node.body, state)
        return state

    def _small(self, node: cst.BaseSmallStatement, state: State) -> bool:
        """Runs one simple statement; False where control does not go on."""
        if isinstance(node, cst.Assign):
            value = self.value(node.value, state)
            for target in node.targets:
                self._bind(target.target, value, node.value, node, state)
        elif isinstance(node, cst.AnnAssign) and node.value is not None:
            self._bind(node.target, self.value(node.value, state), node.value, node, state)
        elif isinstance(node, cst.AugAssign):
            self._augment(node, state)
        elif isinstance(node, cst.Expr):
            self.value(node.value, state)
        elif isinstance(node, cst.Return):
            self._returned.append(
                (dict(state.tests), NONE if node.value is None else self.value(node.value, state))
            )
            return False
        return not isinstance(node, (cst.Break, cst.Continue, cst.Raise))

    def _bind(
        self,
        target: cst.BaseExpression,
        value: Value,
        expr: cst.BaseExpression | None,
        node: cst.CSTNode,
        state: State,
    ) -> None:
        if isinstance(target, cst.Name):
            state.env[target.value] = (value, frozenset({self._def(target, "assign", node, expr)}))
            self.note(target, value, state)
        elif isinstance(target, (cst.Tuple, cst.List)):
            self._unpack(target, value, expr, node, state)

    def _unpack(
        self,
        target: cst.Tuple | cst.List,
        value: Value,
        expr: cst.BaseExpression | None,
        node: cst.CSTNode,
        state: State,
    ) -> None:
        count = len(target.elements)
        values = _parts_of(value, count) or (Unknown("a part of a tuple", node),) * count
        own = isinstance(expr, (cst.Tuple, cst.List)) and len(expr.elements) == count
        for i, element in enumerate(target.elements):
            part = expr.elements[i].value if own and isinstance(expr, (cst.Tuple, cst.List)) else None
            self._bind(element.value, values[i], part, node, state)

    def _augment(self, node: cst.AugAssign, state: State) -> None:
        right = self.value(node.value, state)
        if not isinstance(node.target, cst.Name):
            return
        left = self._name(node.target, state)
        op = ops.BINARY.get(type(node.operator), "?")
        value = self._placed(ops.binary(op, left, right), node)
        state.env[node.target.value] = (value, frozenset({self._def(node.target, "aug", node, node.value)}))
        self.note(node.target, value, state)

    def _if(self, node: cst.If, state: State) -> State | None:
        test = self.value(node.test, state)
        constexpr = is_constexpr(test)
        if constexpr:
            text, holds, fails = self.outcomes(node.test)
        else:
            text, holds, fails = f"#{self.number_of(node)}", {}, {}
        known = state.tests.get(text) if constexpr else None
        if isinstance(test, Const):
            known = holds[text] if test.value else not holds[text]
        skipped = known is not None and known != holds.get(text)
        then = None if skipped else self.block(node.body, state.fork(holds))
        other = self._orelse(node, state.fork(fails)) if known is None or skipped else None
        flipped = constexpr and not holds[text]
        first, second = (other, then) if flipped else (then, other)
        return self._join(node, text, constexpr, first, second, state)

    def _orelse(self, node: cst.If, state: State) -> State | None:
        if isinstance(node.orelse, cst.If):
            return self._if(node.orelse, state)
        return self.block(node.orelse.body, state) if node.orelse is not None else state

    def _join(
        self,
        node: cst.CSTNode,
        text: str,
        constexpr: bool,
        then: State | None,
        other: State | None,
        before: State,
    ) -> State | None:
        if then is None or other is None:
            left = other if then is None else then
            return None if left is None else State(left.env, before.tests, before.loops)
        env: Env = {}
        for name in dict.fromkeys([*then.env, *other.env]):
            a, b = then.env.get(name, _NOTHING), other.env.get(name, _NOTHING)
            if a is b:
                env[name] = a
                continue
            number = self.number_of((node, name))
            env[name] = (ops.join_values(name, text, constexpr, a[0], b[0], number), a[1] | b[1])
        return State(env, before.tests, before.loops)

    def _loop(self, node: cst.For | cst.While, state: State) -> State | None:
        """Two silent passes find how carried names change and what reaches the body, a last one takes notes."""
        number = self.number_of(node)
        inside = State(dict(state.env), state.tests, (*state.loops, node))
        counter = self._counter(node, inside, number)
        carried = [name for name in assigned_names(node.body) if name in state.env]
        plan = induction.Plan(number, counter)
        ended: State | None = None
        recording, self.recording = self.recording, False
        for last in (False, False, True):
            self.recording = recording and last
            begin = State(
                {**inside.env, **plan.begin(carried, state.env, ended and ended.env)},
                state.tests,
                inside.loops,
            )
            begin.env.update(self._carried_defs(carried, begin.env, state.env, ended and ended.env))
            if isinstance(node, cst.For):
                value = Num(counter.poly, (), counter.dtype)
                self._bind(node.target, value, None, node, begin)
            else:
                self.value(node.test, begin)
            ended = self.block(node.body, begin) or begin
        self.recording = recording
        return self._join(node, f"loop#{number}", False, State(ended.env) if ended else None, state, state)

    def _carried_defs(self, carried: Sequence[str], env: Env, before: Env, ended: Env | None) -> Env:
        found: Env = {}
        for name in carried:
            late = ended[name][1] if ended is not None and name in ended else frozenset[Def]()
            found[name] = (env[name][0], before[name][1] | late)
        return found

    def _counter(self, node: cst.For | cst.While, state: State, number: int) -> induction.Counter:
        if isinstance(node, cst.While) or not isinstance(node.iter, cst.Call):
            return induction.Counter(symbols.opaque("iteration", number), None, None, "int32")
        self.value(node.iter, state)
        values = tuple(self.facts.values.get(a.value) or self.value(a.value, state) for a in node.iter.args)
        args = calls.Args(values, {}, node.iter, number)
        start, stop, step = calls.span(args)
        name = node.target.value if isinstance(node.target, cst.Name) else "_"
        wide = any(isinstance(v, Num) and v.dtype not in ("weak", "int32", "arg") for v in values)
        return induction.counter(name, number, start, stop, step, "int64" if wide else "int32")

    def inline(self, helper: cst.FunctionDef, args: calls.Args) -> Value:
        """A helper's result, from its own body with these arguments; nothing inside it is noted."""
        if self._depth >= _MAX_INLINE:
            return args.unknown("helpers that call helpers too deeply")
        saved = (self.recording, self._returned, self._site, self.inside)
        self.recording, self._returned, self._site = False, [], (*self._site, args.node)
        self.inside = helper
        self._depth += 1
        try:
            self.block(helper.body, self._enter(helper, args))
            returned = self._returned
        finally:
            self._depth -= 1
            self.recording, self._returned, self._site, self.inside = saved
        return _result(returned, args)

    def _enter(self, helper: cst.FunctionDef, args: calls.Args) -> State:
        env: Env = {}
        for i, param in enumerate(helper.params.params):
            default = _LITERAL_DEFAULTS.get(code_of(param.default)) if param.default else None
            value = args.get(
                i, param.name.value, default or Unknown("an argument that is not passed", args.node)
            )
            env[param.name.value] = (value, frozenset[Def]())
        return State(env)


_NOTHING: tuple[Value, Defs] = (MISSING, frozenset())
_LITERAL_DEFAULTS: dict[str, Value] = {"None": NONE, "True": Const(True), "False": Const(False)}


def _result(returned: list[tuple[dict[str, bool], Value]], args: calls.Args) -> Value:
    """The one value that a helper returns; of several behind constexpr tests, the first's alternatives."""
    if not returned:
        return NONE
    result = returned[-1][1]
    for tests, value in reversed(returned[:-1]):
        if len(tests) != 1:
            return args.unknown("a helper with several returns")
        ((test, outcome),) = tests.items()
        result = ops.guarded(test, value, result) if outcome else ops.guarded(test, result, value)
    return result


def _parts_of(value: Value, count: int) -> tuple[Value, ...] | None:
    """The items of a tuple of that length, None for anything else.

    Behind constexpr tests (`return a, b` or `return a, b, c`) only what has the length can have come here.
    """
    if isinstance(value, Tup):
        return value.items if len(value.items) == count else None
    if not isinstance(value, Guarded):
        return None
    then, other = _parts_of(value.then, count), _parts_of(value.other, count)
    if then is None or other is None:
        return other if then is None else then
    return tuple(ops.guarded(value.test, a, b) for a, b in zip(then, other, strict=True))


def assigned_names(body: cst.BaseSuite) -> list[str]:
    """Names that a block assigns, in order of first assignment."""
    found: list[str] = []
    for node in walk(body):
        if isinstance(node, (cst.AssignTarget, cst.AugAssign, cst.AnnAssign, cst.For)):
            found += _targets(node.target)
    return list(dict.fromkeys(found))


def _targets(target: cst.BaseExpression) -> list[str]:
    if isinstance(target, cst.Name):
        return [target.value]
    if isinstance(target, (cst.Tuple, cst.List)):
        return [name for element in target.elements for name in _targets(element.value)]
    return []


def parameter_value(param: cst.Param, pointer: bool) -> Value:
    """What a parameter is when the kernel begins."""
    name = param.name.value
    if param.annotation is not None and "constexpr" in code_of(param.annotation.annotation):
        return Num(symbols.constexpr(name), constexpr=True)
    return Ptr(name, ZERO) if pointer else Num(symbols.parameter(name), (), "arg")
