"""What every value of a kernel is for one tile size: `tile_states`, by the syntax that made it."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from dataclasses import replace

import libcst as cst

from tritonport.facts.algebra import Def, KernelFacts
from tritonport.facts.algebra.calls import is_elementwise
from tritonport.facts.algebra.facts import argument
from tritonport.facts.algebra.ops import BINARY
from tritonport.facts.algebra.values import Const, Mask, Num, Unknown, Value, alternatives, shape_of
from tritonport.facts.tile_accumulators import Accumulators, Update
from tritonport.facts.tile_loads import Loads, not_followed
from tritonport.facts.tile_positions import Positions
from tritonport.facts.tile_states import (
    FREE,
    HIGHEST,
    LOWEST,
    NEUTRAL,
    ZERO,
    State,
    binary,
    elementwise,
    join,
    negated,
    reduced,
    tile,
)
from tritonport.facts.walk import code_of

_LANGUAGE = "triton.language."
_RANDOM = frozenset({"rand", "randn", "randint"})
_ALONG = frozenset({"sum", "max", "min", "argmax", "argmin", "xor_sum", "cumsum", "cumprod"})
_KEEPS = frozenset({"abs", "sqrt", "floor", "ceil", "sin", "tanh", "erf"})
"""Functions that are 0 at 0."""
_LANES_ONLY = frozenset({"program_id", "num_programs", "arange"})


class Values:
    """The states of one kernel's expressions. Ask after `settle`."""

    def __init__(self, facts: KernelFacts, places: Positions, sums: Accumulators) -> None:
        self.facts, self.places, self.sums = facts, places, sums
        self.loads = Loads(facts, places, self.of)
        self.states: dict[Def, State] = {}
        self._known: dict[cst.CSTNode, State] = {}

    def settle(self) -> None:
        """Passes over all assignments, until nothing changes: a state only ever gets worse."""
        order = [d for d in self.facts.defs.values() if d.kind == "param" or d.target in self.facts.order]
        changed = True
        while changed:
            changed, self._known = False, {}
            before = len(self.places.loaded)
            for definition in order:
                known = self.states.get(definition)
                state = self._definition(definition)
                if known is not None and state != known:
                    state = join((known, state), f"`{definition.name}` changes from tile to tile")
                if state != known:
                    self.states[definition] = state
                    changed = True
            changed = changed or len(self.places.loaded) > before
        self._known = {}

    def _definition(self, definition: Def) -> State:
        if definition.kind == "param":
            dependent = definition.name in self.places.dependent
            if definition.name == self.places.name or dependent:
                return tile(f"`{definition.name}` depends on the tile's size")
            return FREE
        if definition in self.sums.updates:
            return self._total(definition, self.sums.updates[definition])
        known = self.places.state(self.facts.value(definition.target))
        if known is not None and definition.kind != "for":
            return known
        if definition.kind == "for":
            return self._counter(definition)
        if definition.kind == "aug" and isinstance(definition.node, cst.AugAssign):
            op = BINARY.get(type(definition.node.operator), "?")
            old, new = self._name(definition.target), self.of(definition.node.value)
            return self._checked(definition.target, binary(op, old, new, not_followed(definition.node)))
        if definition.expr is not None:
            return self.of(definition.expr)
        value = getattr(definition.node, "value", None)
        whole = (
            self.of(value) if isinstance(value, cst.BaseExpression) else tile(not_followed(definition.node))
        )
        return whole if whole.kind in ("free", "tile") else tile(not_followed(definition.node))

    def _counter(self, definition: Def) -> State:
        loop = definition.node
        if loop in self.places.loops:
            return tile(f"`{definition.name}` is the number of a tile")
        bounds = loop.iter if isinstance(loop, cst.For) else None
        args = [arg.value for arg in bounds.args] if isinstance(bounds, cst.Call) else []
        return elementwise([self.of(arg) for arg in args], not_followed(definition.target)) if args else FREE

    def _total(self, definition: Def, update: Update) -> State:
        """What an accumulator is behind its loop."""
        why = f"`{definition.name}` is not the same sum for every size of the tile"
        starts = [self.states.get(d, FREE) for d in update.before]
        added = update.operand is definition.expr and definition.kind == "assign"
        value = self._dot(update.operand, None) if added else None
        value = self.of(update.operand) if value is None else value
        if value.kind == "tile":
            return value
        number = self.places.loops[update.loop][0]
        if value.at != number or any(start.kind != "free" for start in starts):
            return tile(why)
        if value.kind == "part" and value.how == update.how:
            return FREE
        neutral = update.how != "sum" or all(start.pad == ZERO for start in starts)
        if value.kind == "point" and value.pad == NEUTRAL[update.how] and neutral:
            return State("lanes", how=update.how)
        return tile(why)

    def of(self, node: cst.BaseExpression) -> State:
        """The state of one expression."""
        if node not in self._known:
            self._known[node] = self._checked(node, self._of(node))
        return self._known[node]

    def _of(self, node: cst.BaseExpression) -> State:
        value = self.facts.value(node)
        known = self.places.state(value)
        if known is not None:
            return known
        if isinstance(node, cst.Name):
            return self._name(node)
        if isinstance(node, cst.Integer | cst.Float):
            return replace(FREE, pad=ZERO if not node.evaluated_value else None)
        if isinstance(node, cst.SimpleString):
            return FREE
        if isinstance(node, cst.BinaryOperation):
            op = BINARY.get(type(node.operator), "?")
            return binary(op, self.of(node.left), self.of(node.right), not_followed(node))
        return self._compound(node)

    def _compound(self, node: cst.BaseExpression) -> State:
        if isinstance(node, cst.UnaryOperation):
            inner = self.of(node.expression)
            return negated(inner) if isinstance(node.operator, cst.Minus) else self._each(node, [inner])
        if isinstance(node, cst.Comparison):
            operands = [node.left, *(part.comparator for part in node.comparisons)]
            return self._each(node, map(self.of, operands))
        if isinstance(node, cst.BooleanOperation):
            return self._each(node, [self.of(node.left), self.of(node.right)])
        if isinstance(node, cst.IfExp):
            return self._choice(node)
        if isinstance(node, cst.Tuple | cst.List):
            return self._each(node, [self.of(element.value) for element in node.elements])
        if isinstance(node, cst.Subscript):
            return self._subscript(node)
        if isinstance(node, cst.Attribute):
            return self._attribute(node)
        return self._call(node) if isinstance(node, cst.Call) else tile(not_followed(node))

    def _each(self, node: cst.CSTNode, states: Iterable[State]) -> State:
        return elementwise(states, not_followed(node))

    def _checked(self, node: cst.BaseExpression, state: State) -> State:
        """A state that positions have in one known dimension; anything else is not followed."""
        value = self.facts.value(node)
        scalars = isinstance(value, Num | Mask) and not value.shape
        if state.kind in ("free", "tile") or isinstance(node, cst.Tuple | cst.List):
            return state
        fits = self.places.shape_known(value) and (state.kind != "point" or not scalars)
        return state if fits else tile(not_followed(node))

    def _choice(self, node: cst.IfExp) -> State:
        parts = [part for part in (node.body, node.orelse) if part in self.facts.order]
        test = self.of(node.test)
        if test.kind != "free" or not parts:
            return test if test.kind == "tile" else tile(not_followed(node))
        return join([self.of(part) for part in parts], not_followed(node))

    def _subscript(self, node: cst.Subscript) -> State:
        """`x[:, None]`; an element of a tuple is not followed."""
        whole = self.of(node.value)
        if whole.kind in ("free", "tile"):
            return whole
        plain = all(isinstance(e.slice, cst.Slice) or code_of(e.slice) == "None" for e in node.slice)
        return whole if plain and not isinstance(node.value, cst.Tuple) else tile(not_followed(node))

    def _attribute(self, node: cst.Attribute) -> State:
        root = node.value
        while isinstance(root, cst.Attribute):
            root = root.value
        if isinstance(root, cst.Name) and root not in self.facts.reads:
            return FREE
        if node.attr.value in ("dtype", "element_ty"):
            return FREE
        return self.of(node.value) if node.attr.value == "T" else tile(not_followed(node))

    def _name(self, node: cst.Name) -> State:
        reads = self.facts.reads.get(node)
        if reads is None:
            return FREE
        known = [found for d in reads if (found := self._read(d, node, reads)) is not None]
        return join(known, f"`{node.value}` changes from tile to tile") if known else FREE

    def _read(self, definition: Def, node: cst.Name, reads: frozenset[Def]) -> State | None:
        """What one assignment gives to a read; None while that is not known yet."""
        state = self.states.get(definition)
        inside = self.facts.loops.get(node, ())
        for loop in self.facts.loops.get(definition.target, ()):
            if loop not in self.places.loops or definition.kind == "param":
                continue
            number = self.places.loops[loop][0]
            if loop not in inside:
                last = state is not None and state.kind != "free" and definition not in self.sums.updates
                if last and state is not None and (state.kind != "point" or state.at == number):
                    return tile(f"`{node.value}` is that of the last tile")
                continue
            outside = any(loop not in self.facts.loops.get(d.target, ()) for d in reads)
            late = self.facts.order[definition.target] > self.facts.order[node]
            if outside or late or definition in self.sums.updates:
                return tile(f"`{node.value}` is carried from tile to tile")
        return state

    def _call(self, node: cst.Call) -> State:
        name = self.facts.calls.get(node, "")
        short = name.removeprefix(_LANGUAGE)
        arguments = [arg.value for arg in node.args]
        if not name:
            return self._unnamed(node)
        if short in _LANES_ONLY:
            return self._lanes(node)
        handler = self._handlers().get(short)
        if handler is not None:
            return handler(node)
        if is_elementwise(name) or short in _RANDOM or short in ("cdiv", "triton.cdiv", "min", "max", "abs"):
            return self._elementwise(node, short)
        states = [self.of(arg) for arg in arguments]
        bad = next((s for s in states if s.kind == "tile"), None)
        plain = all(s.kind == "free" for s in states) and not any(map(self._has_lanes, arguments))
        return FREE if plain else bad or tile(not_followed(node))

    def _handlers(self) -> dict[str, Callable[[cst.Call], State]]:
        return {
            **dict.fromkeys(_ALONG, self._reduction),
            "load": self.loads.of,
            "dot": lambda node: self._dot(node, argument(node, 2, "acc")) or tile(not_followed(node)),
            "where": self._where,
            "zeros": lambda node: replace(FREE, pad=ZERO),
            "zeros_like": lambda node: replace(FREE, pad=ZERO),
            "full": lambda node: self._first(node, 1, "value"),
            "broadcast_to": lambda node: self._first(node, 0, "input"),
            "expand_dims": lambda node: self._first(node, 0, "input"),
            "trans": lambda node: self._first(node, 0, "input"),
            "cast": lambda node: self._cast(node, argument(node, 0, "input"), argument(node, 1, "dtype")),
        }

    def _first(self, node: cst.Call, place: int, name: str) -> State:
        found = argument(node, place, name)
        return tile(not_followed(node)) if found is None else self.of(found)

    def _has_lanes(self, node: cst.BaseExpression) -> bool:
        shapes = [shape_of(leaf) for _, leaf in alternatives(self.facts.value(node))]
        return any(self.places.axes(shape) for shape in shapes)

    def _lanes(self, node: cst.Call) -> State:
        """A bare program id, or lanes without the tile's position."""
        value = self.facts.value(node)
        known = isinstance(value, Num) and self.places.clear(value.poly)
        return FREE if known else tile(f"`{code_of(node)}` says which tile it is, or which lane of it")

    def _unnamed(self, node: cst.Call) -> State:
        """A method, or a function of the sources."""
        func = node.func
        arguments = [arg.value for arg in node.args]
        if isinstance(func, cst.Attribute) and func.attr.value == "to" and len(arguments) == 1:
            return self._cast(node, func.value, arguments[0])
        if isinstance(func, cst.Attribute):
            return self.of(func.value) if self.of(func.value).kind == "tile" else tile(not_followed(node))
        followed = node not in self.facts.mixing and not isinstance(self.facts.value(node), Unknown)
        return self._each(node, map(self.of, arguments)) if followed else tile(not_followed(node))

    def _cast(
        self, node: cst.Call, source: cst.BaseExpression | None, dtype: cst.BaseExpression | None
    ) -> State:
        """A cast keeps 0; to float32, anything."""
        if source is None or dtype is None:
            return tile(not_followed(node))
        state = self.of(source)
        if self.facts.dotted(dtype) == f"{_LANGUAGE}float32":
            return state
        if state.kind in ("part", "lanes"):
            return tile(not_followed(node))
        return replace(state, pad=ZERO if state.pad == ZERO else None)

    def _elementwise(self, node: cst.Call, short: str) -> State:
        states = [self.of(arg.value) for arg in node.args]
        found = self._each(node, states)
        pads = {state.pad for state in states}
        pad = pads.pop() if len(pads) == 1 else None
        short = short.removeprefix("math.").removeprefix("extra.libdevice.")
        if short in ("exp", "exp2"):
            return replace(found, pad=ZERO if pad == LOWEST else None)
        if short in ("minimum", "maximum", "min", "max"):
            return replace(found, pad=pad)
        return replace(found, pad=ZERO if short in _KEEPS and pad == ZERO else None)

    def _where(self, node: cst.Call) -> State:
        """Where the condition keeps positions within the axis, the other value is the padding."""
        parts = [argument(node, i, n) for i, n in enumerate(("condition", "x", "y"))]
        if any(part is None for part in parts):
            return tile(not_followed(node))
        test, one, other = (self.of(part) for part in parts if part is not None)
        found = self._each(node, (test, one, other))
        value = self.facts.value(parts[0]) if parts[0] is not None else None
        bounds = value.bounds if isinstance(value, Mask) else None
        masked = bounds is not None and self.places.holds(bounds, found.at)
        return replace(found, pad=other.pad if masked or one.pad == other.pad else None)

    def _reduction(self, node: cst.Call) -> State:
        source, axis = argument(node, 0, "input"), argument(node, 1, "axis")
        name = self.facts.calls[node].removeprefix(_LANGUAGE)
        if source is None:
            return tile(not_followed(node))
        state = self.of(source)
        if name in ("max", "min") and len(node.args) == 2 and not self._shaped(source):
            return self._elementwise(node, name)
        if state.kind == "tile" or (state.kind == "free" and not self._has_lanes(source)):
            return state if state.kind == "tile" else FREE
        value = self.facts.value(axis) if axis is not None else Const(0 if name.startswith("cum") else None)
        shapes = {shape_of(leaf) for _, leaf in alternatives(self.facts.value(source))}
        shape = shapes.pop() if len(shapes) == 1 else None
        whole = isinstance(value, Const) and value.value is None
        place = _whole_number(value)
        if shape is None or (place is None and not whole):
            return tile(not_followed(node))
        mine = set(self.places.axes(shape))
        if mine & (set(range(len(shape))) if place is None else {place % len(shape)}):
            return reduced(name, state, f"`{code_of(node)}` sees one tile at a time")
        kept = {"sum": (ZERO,), "max": (ZERO, LOWEST), "min": (ZERO, HIGHEST)}.get(name, ())
        if state.kind != "point":
            return state if state.kind == name == "sum" else tile(not_followed(node))
        return replace(state, pad=state.pad if state.pad in kept else None)

    def _shaped(self, node: cst.BaseExpression) -> bool:
        return any(shape_of(leaf) != () for _, leaf in alternatives(self.facts.value(node)))

    def _dot(self, node: cst.BaseExpression, total: cst.BaseExpression | None) -> State | None:
        if not isinstance(node, cst.Call):
            return None
        left, right = argument(node, 0, "input"), argument(node, 1, "other")
        if left is None or right is None:
            return None
        a, b = self.of(left), self.of(right)
        both = self._each(node, (a, b))
        if both.kind == "free" and not self._has_lanes(left) and not self._has_lanes(right):
            made = FREE
        elif both.kind == "tile":
            return both
        else:
            made = self._product(node, (left, a), (right, b))
        return made if total is None else binary("+", made, self.of(total), not_followed(node))

    def _product(
        self, node: cst.Call, left: tuple[cst.BaseExpression, State], right: tuple[cst.BaseExpression, State]
    ) -> State:
        """A product whose rows, columns or contraction is the tile."""
        shapes = [shape_of(self.facts.value(expr)) for expr, _ in (left, right)]
        first, second = (shape if shape is not None and len(shape) == 2 else None for shape in shapes)
        if first is None or second is None:
            return tile(not_followed(node))
        rows, columns = first[0] == self.places.size, second[1] == self.places.size
        inner = (first[1] == self.places.size, second[0] == self.places.size)
        (_, a), (_, b) = left, right
        if any(inner):
            whole = all(inner) and not rows and not columns and a.kind == b.kind == "point" and a.at == b.at
            padded = whole and a.pad == b.pad == ZERO
            return (
                State("part", a.at, how="sum")
                if padded
                else tile(f"`{code_of(node)}` sees one tile at a time")
            )
        if rows and columns:
            return tile(not_followed(node))
        return replace(
            self._each(node, (a, b)), pad=(a if rows else b).pad if (a if rows else b).pad == ZERO else None
        )


def _whole_number(value: Value) -> int | None:
    if isinstance(value, Const):
        return value.value if type(value.value) is int else None
    return value.poly.value if isinstance(value, Num) else None
