"""mask-cast: index compares that choose values are made in float32, where both sides are whole numbers below 2^24.

The vector unit of older compilers has no compare of integers; float32 holds every whole number up to 2^24.
"""

from __future__ import annotations

import libcst as cst

from tritonport.engine.context import FileContext
from tritonport.engine.rule import RuleResult
from tritonport.facts.algebra import Def, KernelFacts, Poly, Symbol, accesses
from tritonport.facts.algebra.facts import argument
from tritonport.facts.algebra.ops import number
from tritonport.facts.algebra.values import Mask, Num
from tritonport.facts.naming import fresh
from tritonport.facts.walk import code_of, names_in, walk
from tritonport.passes.guards import one_value
from tritonport.passes.kernels import kernels
from tritonport.passes.syntax import assign, method, replace
from tritonport.record import RuleClass

EXACT = 2**24
LANES = 2**20
"""Most lanes of a tile: Triton's limit of elements, which `tl.arange` holds as well."""
_LOGIC = (cst.BitAnd, cst.BitOr, cst.BitXor)
Interval = tuple[int | None, int | None]
"""Least and greatest value, None where there is no known end."""


class MaskCast:
    """Casts what is left of an index after index-width: lanes of one tile, and limits clamped to it."""

    slug = "mask-cast"
    rule_class: RuleClass = "exact"

    def run(self, file: FileContext) -> RuleResult:
        result = RuleResult()
        for kernel in kernels(file):
            _Conditions(kernel.facts, result, kernel.key).rewrite()
        return result


class _Conditions:
    """The conditions of `tl.where` in one kernel."""

    def __init__(self, facts: KernelFacts, result: RuleResult, kernel: str) -> None:
        self.facts, self.result, self.kernel = facts, result, kernel
        self.extents = {
            str(extent)
            for value in facts.values.values()
            for extent in getattr(one_value(value), "shape", None) or ()
        }
        self.masks = {
            node for a in accesses(facts) if a.mask is not None for node in self._read_by(a.mask, set())
        }
        self.done: set[cst.CSTNode] = set()
        self.taken = {name.value for name in names_in(facts.function)}
        self.twins: dict[Def, str] = {}

    def rewrite(self) -> None:
        for where in self.facts.calls_of("where"):
            condition = argument(where, 0, "condition")
            if condition is not None:
                self._cast(condition)

    def _read_by(self, node: cst.CSTNode, seen: set[Def]) -> set[Def]:
        """Assignments that a mask is made from: what they compare also bounds a transfer."""
        for name in walk(node):
            for definition in (
                self.facts.reads.get(name, frozenset[Def]()) if isinstance(name, cst.Name) else ()
            ):
                if definition not in seen and definition.kind == "assign" and definition.expr is not None:
                    seen.add(definition)
                    self._read_by(definition.expr, seen)
        return seen

    def _cast(self, node: cst.BaseExpression) -> None:
        """Casts the compares that a condition is made of, where they stand."""
        if node in self.done:
            return
        self.done.add(node)
        if isinstance(node, cst.BinaryOperation) and isinstance(node.operator, _LOGIC):
            self._cast(node.left)
            self._cast(node.right)
        elif isinstance(node, cst.UnaryOperation):
            self._cast(node.expression)
        elif isinstance(node, cst.Subscript):
            self._cast(node.value)
        elif isinstance(node, cst.Name):
            self._name(node)
        elif isinstance(node, cst.Comparison):
            new = self._compare(node)
            if new is not None:
                replace(self.result, node, new, self.kernel)

    def _name(self, node: cst.Name) -> None:
        """A condition with a name: cast at its assignment, or here where the name also bounds a transfer."""
        defs = self.facts.reads.get(node, frozenset[Def]())
        if not all(d.kind == "assign" and d.expr is not None for d in defs):
            return
        if self.masks.isdisjoint(defs):
            for definition in defs:
                assert definition.expr is not None
                self._cast(definition.expr)
            return
        (only,) = defs if len(defs) == 1 else (None,)
        expr = only.expr if only is not None else None
        if only is None or not isinstance(expr, cst.Comparison) or not self.facts.same_at(only, node):
            self.result.not_applicable(node, "it also bounds a transfer", kernel=self.kernel)
            return
        twin = self.twins.get(only) or self._twin(only, expr)
        if twin is not None:
            replace(self.result, node, cst.Name(twin), self.kernel, counts=False)

    def _twin(self, definition: Def, expr: cst.Comparison) -> str | None:
        """The name of a second mask beside the first, for the conditions: the first still bounds its transfers."""
        line = self.facts.parents.get(definition.node)
        new = self._compare(expr)
        if new is None or not isinstance(line, cst.SimpleStatementLine) or len(line.body) != 1:
            return None
        name = fresh(f"{definition.name}_where", self.taken)
        self.taken.add(name)
        self.twins[definition] = name
        second = cst.SimpleStatementLine([assign(name, new.deep_clone())])
        self.result.rewrite(line, lambda old: cst.FlattenSentinel([old, second]), kernel=self.kernel)
        return name

    def _compare(self, node: cst.Comparison) -> cst.Comparison | None:
        """The compare with its tiles cast; None where it is no compare of small whole numbers."""
        value = one_value(self.facts.value(node))
        if len(node.comparisons) != 1 or not isinstance(value, Mask) or not value.shape:
            return None
        target = node.comparisons[0]
        sides = [node.left, target.comparator]
        numbers = [one_value(number(self.facts.value(side))) for side in sides]
        if not all(isinstance(n, Num) and n.dtype in ("int32", "weak") for n in numbers):
            return None
        large = [
            s for s, n in zip(sides, numbers, strict=True) if isinstance(n, Num) and not self._small(n.poly)
        ]
        if large:
            why = f"`{code_of(large[0])}` is not known to be below 2^24: run index-width first"
            self.result.not_applicable(node, why, kernel=self.kernel)
            return None
        left, right = (self._float(s, n) for s, n in zip(sides, numbers, strict=True))
        return node.with_changes(left=left, comparisons=[target.with_changes(comparator=right)])

    def _float(self, node: cst.BaseExpression, value: object) -> cst.BaseExpression:
        """A tile in float32; scalars follow the other side."""
        return method(node, "to", "tl.float32") if isinstance(value, Num) and value.shape else node

    def _small(self, poly: Poly) -> bool:
        low, high = self._interval(poly)
        return low is not None and high is not None and low > -EXACT and high < EXACT

    def _interval(self, poly: Poly) -> Interval:
        low: int | None = 0
        high: int | None = 0
        for mono, factor in poly.terms:
            ends = self._product(mono, factor)
            low = None if low is None or ends[0] is None else low + ends[0]
            high = None if high is None or ends[1] is None else high + ends[1]
        return low, high

    def _product(self, mono: tuple[Symbol, ...], factor: int) -> Interval:
        low: int | None = 1
        high: int | None = 1
        for symbol in mono:
            a, b = self._symbol(symbol)
            if len(mono) > 1 and (a is None or a < 0):
                return None, None
            low = None if low is None or a is None else low * a
            high = None if high is None or b is None else high * b
        first, last = (None if end is None else end * factor for end in (low, high))
        return (first, last) if factor > 0 else (last, first)

    def _symbol(self, symbol: Symbol) -> Interval:
        if symbol.kind == "lane":
            return 0, LANES - 1
        if symbol.kind == "constexpr":
            return 0, LANES if str(Poly.of(symbol)) in self.extents else None
        if symbol.kind == "op" and symbol.key.startswith(("min(", "max(")):
            return self._extreme(symbol)
        low = self._interval(symbol.lo)[0] if symbol.lo is not None else None
        high = self._interval(symbol.hi)[1] if symbol.hi is not None else None
        return low, high

    def _extreme(self, symbol: Symbol) -> Interval:
        ends = [self._interval(part) for part in symbol.parts]
        lows, highs = [e[0] for e in ends if e[0] is not None], [e[1] for e in ends if e[1] is not None]
        every = len(ends)
        if symbol.key.startswith("min("):
            return min(lows) if len(lows) == every else None, min(highs, default=None)
        return max(lows, default=None), max(highs) if len(highs) == every else None


RULE = MaskCast()
