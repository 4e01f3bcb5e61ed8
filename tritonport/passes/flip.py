"""Turns expressions of tiles around: `[:, None]` becomes `[None, :]` and back, through the names that hold them."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field

import libcst as cst

from tritonport.facts.algebra import Def, KernelFacts
from tritonport.facts.algebra.values import Const, Value, alternatives, shape_of
from tritonport.facts.walk import code_of, names_in
from tritonport.passes.syntax import bare, wrapped

Test = tuple[str, bool]


@dataclass(frozen=True)
class Asked:
    """Expressions that flip together, and the outcome of the one test under which they do (None: always)."""

    nodes: tuple[cst.BaseExpression, ...]
    test: Test | None


@dataclass
class Flips:
    """The flips that one kernel needs. A name whose every use is flipped is flipped where it is assigned; any other
    use takes the flipped expression in place of the name."""

    facts: KernelFacts
    why: str = ""
    asked: list[Asked] = field(default_factory=list["Asked"])
    in_place: set[Def] = field(default_factory=set[Def])

    def ask(self, nodes: Sequence[cst.BaseExpression], test: Test | None) -> Asked | None:
        """Notes that these expressions are to be flipped; None, with the reason in why, if one cannot be."""
        tried = Flips(self.facts, in_place=set(self.facts.defs.values()))
        if not all(tried.can(node, test) for node in nodes):
            self.why = tried.why
            return None
        self.asked.append(Asked(tuple(nodes), test))
        return self.asked[-1]

    def can(self, node: cst.BaseExpression, test: Test | None) -> bool:
        """Whether every part of an expression can be flipped."""
        if self._rank(node, test) < 1 or isinstance(node, cst.Subscript):
            return self._rank(node, test) < 2 or _swapped(node) is not None or self._stop(node)
        if isinstance(node, cst.Name):
            return self._can_name(node, test)
        inner = _operands(node)
        return all(self.can(child, test) for child in inner) if inner else self._stop(node)

    def _can_name(self, node: cst.Name, test: Test | None) -> bool:
        if self._rank(node, test) == 1:
            return True
        defs = self._relevant(node, test)
        return (
            bool(defs)
            and all(
                d.kind in ("assign", "aug") and d.expr is not None and self.can(d.expr, test) for d in defs
            )
        ) or self._stop(node)

    def _stop(self, node: cst.CSTNode) -> bool:
        self.why = self.why or f"cannot be turned around: {code_of(node)}"
        return False

    def _rank(self, node: cst.BaseExpression, test: Test | None) -> int:
        leaves = [leaf for tests, leaf in alternatives(self.facts.value(node)) if _holds(tests, test)]
        ranks = {_rank(leaf) for leaf in leaves}
        return ranks.pop() if len(ranks) == 1 else 2

    def _relevant(self, node: cst.Name, test: Test | None) -> list[Def]:
        """The assignments that a name may hold where the test holds."""
        defs = self.facts.reads.get(node, frozenset[Def]())
        return [d for d in defs if _holds(self.facts.tests.get(d.target, {}), test)]

    def settle(self) -> list[Asked]:
        """Decides which assignments are flipped where they stand: those of which every use is flipped.

        Gives back what cannot be flipped after all: a name's expression would mean something else at its use.
        """
        dropped: list[Asked] = []
        while True:
            self._choose()
            moved = [a for a in self.asked if not all(self._inlines(node, a.test) for node in a.nodes)]
            if not moved:
                return dropped
            dropped += moved
            self.asked = [a for a in self.asked if a not in moved]

    def _choose(self) -> None:
        self.in_place = set(self.facts.defs.values())
        while True:
            flipped = {id(name) for node, test in self._pairs() for name in self._reached(node, test)}
            chosen = {d for d in self._targets() if self._only_flipped(d, flipped)}
            if chosen == self.in_place:
                return
            self.in_place = chosen

    def _pairs(self) -> list[tuple[cst.BaseExpression, Test | None]]:
        return [(node, a.test) for a in self.asked for node in a.nodes]

    def _targets(self) -> set[Def]:
        found: set[Def] = set()
        for node, test in self._pairs():
            for name in self._reached(node, test):
                found.update(d for d in self._relevant(name, test) if self._belongs(d, test))
        return found & self.in_place

    def _belongs(self, definition: Def, test: Test | None) -> bool:
        """Whether an assignment runs only where the test holds."""
        return test is None or self.facts.tests.get(definition.target, {}).get(test[0]) == test[1]

    def _inlines(self, node: cst.BaseExpression, test: Test | None) -> bool:
        """Whether each name that is not flipped where it is assigned can be replaced by its expression."""
        for name in self._reached(node, test):
            defs = self._relevant(name, test)
            if all(d in self.in_place for d in defs):
                continue
            expr = defs[0].expr
            if len(defs) != 1 or expr is None or not self.facts.same_at(defs[0], name):
                return False
            if not self._inlines(expr, test):
                return False
        return True

    def _only_flipped(self, definition: Def, flipped: set[int]) -> bool:
        return all(id(use) in flipped or self._shapeless(use) for use in self.facts.uses(definition))

    def _shapeless(self, use: cst.Name) -> bool:
        """Whether a use only asks for the dtype."""
        parent = self.facts.parents.get(use)
        return isinstance(parent, cst.Attribute) and parent.attr.value == "dtype"

    def _reached(self, node: cst.BaseExpression, test: Test | None) -> Iterator[cst.Name]:
        """Names that are flipped along with an expression, through assignments that are flipped in place."""
        for name in names_in(node):
            if name not in self.facts.reads or self._rank(name, test) != 2:
                continue
            yield name
            for definition in self._relevant(name, test):
                if definition.expr is not None and definition in self.in_place:
                    yield from self._reached(definition.expr, test)

    def definitions(self) -> Iterator[tuple[cst.CSTNode, cst.CSTNode]]:
        """(assigned expression, its flipped form) of every assignment that is flipped where it stands."""
        seen: set[Def] = set()
        for node, test in self._pairs():
            for name in self._reached(node, test):
                for definition in self._relevant(name, test):
                    expr = definition.expr
                    if definition in self.in_place and definition not in seen and expr is not None:
                        seen.add(definition)
                        new = self.flipped(expr, test)
                        if new is not expr:
                            yield expr, new

    def flipped(self, node: cst.BaseExpression, test: Test | None = None) -> cst.BaseExpression:
        """The expression turned around; the node itself where it is the same both ways."""
        if isinstance(node, cst.Subscript):
            return _swapped(node) or node
        if isinstance(node, cst.Name):
            return self._flipped_name(node, test)
        if self._rank(node, test) < 1:
            return node
        return _with_operands(node, [self.flipped(child, test) for child in _operands(node)])

    def _flipped_name(self, node: cst.Name, test: Test | None) -> cst.BaseExpression:
        rank = self._rank(node, test)
        if rank == 1:
            return cst.parse_expression(f"{node.value}[:, None]")
        defs = self._relevant(node, test)
        if rank < 1 or all(d in self.in_place for d in defs):
            return node
        expr = defs[0].expr
        assert expr is not None
        return wrapped(bare(self.flipped(expr, test)))


def _rank(value: Value) -> int:
    if isinstance(value, Const):
        return 0
    shape = shape_of(value)
    return 2 if shape is None else len(shape)


def _holds(tests: dict[str, bool], test: Test | None) -> bool:
    return test is None or tests.get(test[0], test[1]) == test[1]


def _operands(node: cst.BaseExpression) -> list[cst.BaseExpression]:
    """The parts that are flipped when an expression is."""
    if isinstance(node, (cst.BinaryOperation, cst.BooleanOperation)):
        return [node.left, node.right]
    if isinstance(node, cst.Comparison) and len(node.comparisons) == 1:
        return [node.left, node.comparisons[0].comparator]
    if isinstance(node, cst.Call) and isinstance(node.func, cst.Attribute) and node.func.attr.value == "to":
        return [node.func.value]
    return []


def _with_operands(node: cst.BaseExpression, new: list[cst.BaseExpression]) -> cst.BaseExpression:
    if all(a is b for a, b in zip(_operands(node), new, strict=True)):
        return node
    if isinstance(node, cst.Comparison):
        target = node.comparisons[0].with_changes(comparator=new[1])
        return node.with_changes(left=new[0], comparisons=[target])
    if isinstance(node, cst.Call):
        return node.with_changes(func=node.func.with_changes(value=wrapped(new[0])))
    return node.with_changes(left=new[0], right=new[1])


def _swapped(node: cst.BaseExpression) -> cst.Subscript | None:
    """`x[None, :]` for `x[:, None]` and the reverse."""
    if not isinstance(node, cst.Subscript) or len(node.slice) != 2:
        return None
    first, second = node.slice
    if isinstance(first.slice, cst.Slice) == isinstance(second.slice, cst.Slice):
        return None
    swapped = [first.with_changes(slice=second.slice), second.with_changes(slice=first.slice)]
    return node.with_changes(slice=swapped)
