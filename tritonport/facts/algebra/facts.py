"""The facts about one kernel, keyed by the identity of its LibCST nodes."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from typing import TYPE_CHECKING

import libcst as cst

from tritonport.facts.algebra.values import Ptr, Tup, Unknown, Value, alternatives
from tritonport.facts.walk import code_of, names_in

if TYPE_CHECKING:
    from tritonport.facts.algebra.accesses import Access

ResolveHelper = Callable[[str, "cst.FunctionDef | None"], "Sequence[cst.FunctionDef]"]
"""(name, the helper in whose body it stands or None) -> the jit functions that it may mean there."""
Dotted = Callable[[cst.BaseExpression], "str | None"]


@dataclass(frozen=True, eq=False)
class Def:
    """One assignment of one name. node: the statement; target: the name node; expr: the value's own expression.

    kind: `param`, `assign`, `aug`, `for`. expr is None for parameters, loop variables and parts of a call's result.
    """

    name: str
    kind: str
    node: cst.CSTNode
    target: cst.Name
    expr: cst.BaseExpression | None = None


Defs = frozenset[Def]


@dataclass
class KernelFacts:
    """Everything that the interpretation of one function found. Build it with `analyse`; it does not change after that.

    values: what each expression node evaluates to (in a loop: in any one iteration).
    reads: the assignments that may reach each name node. order: evaluation order of nodes.
    loops: the loops around each node, outermost first. guards: constexpr tests known at each statement.
    """

    function: cst.FunctionDef
    dotted: Dotted
    values: dict[cst.CSTNode, Value] = field(default_factory=dict[cst.CSTNode, Value])
    reads: dict[cst.Name, Defs] = field(default_factory=dict[cst.Name, Defs])
    order: dict[cst.CSTNode, int] = field(default_factory=dict[cst.CSTNode, int])
    loops: dict[cst.CSTNode, tuple[cst.CSTNode, ...]] = field(
        default_factory=dict[cst.CSTNode, tuple[cst.CSTNode, ...]]
    )
    tests: dict[cst.CSTNode, dict[str, bool]] = field(default_factory=dict[cst.CSTNode, dict[str, bool]])
    """Outcomes of constexpr tests that are known where a node is evaluated."""
    parents: dict[cst.CSTNode, cst.CSTNode] = field(default_factory=dict[cst.CSTNode, cst.CSTNode])
    defs: dict[cst.Name, Def] = field(default_factory=dict[cst.Name, Def])
    calls: dict[cst.Call, str] = field(default_factory=dict[cst.Call, str])
    """Dotted name of each call's function (`triton.language.load`), where it has one."""
    mixing: set[cst.Call] = field(default_factory=set[cst.Call])
    """Calls of helpers in whose bodies a function looks beyond single elements (a reduction, a scan, a load), or is not
    known."""
    accesses: tuple[Access, ...] | None = field(default=None, repr=False)
    """Loads and stores, once `accesses` has been asked for them."""

    def value(self, node: cst.CSTNode) -> Value:
        return self.values.get(node, Unknown("never evaluated", node))

    def calls_of(self, *names: str) -> list[cst.Call]:
        """Calls of `tl.<name>` in evaluation order."""
        wanted = {f"triton.language.{name}" for name in names}
        return sorted((c for c, name in self.calls.items() if name in wanted), key=self.order.__getitem__)

    def defs_of(self, name: str) -> list[Def]:
        return self._defs_by_name.get(name, [])

    @cached_property
    def _defs_by_name(self) -> dict[str, list[Def]]:
        found: dict[str, list[Def]] = {}
        for definition in self.defs.values():
            found.setdefault(definition.name, []).append(definition)
        return found

    def uses(self, definition: Def) -> list[cst.Name]:
        """The name nodes that may read this assignment, in evaluation order."""
        return self._uses.get(definition, [])

    @cached_property
    def _uses(self) -> dict[Def, list[cst.Name]]:
        found: dict[Def, list[cst.Name]] = {}
        for name in sorted(self.reads, key=self.order.__getitem__):
            for definition in self.reads[name]:
                found.setdefault(definition, []).append(name)
        return found

    def same_at(self, definition: Def, use: cst.CSTNode) -> bool:
        """Whether an assigned expression has the same value at a later use: nothing in it is assigned in between."""
        if definition.expr is None:
            return False
        start, end = self.order[definition.target], self.order[use]
        entered = [loop for loop in self.loops[use] if loop not in self.loops[definition.target]]
        for name in names_in(definition.expr):
            for other in self.defs_of(name.value) if name in self.reads else ():
                at = self.order.get(other.target, 0)
                inside = any(loop in self.loops.get(other.target, ()) for loop in entered)
                if inside or start < at < end:
                    return False
        return True

    def reassigned(self) -> tuple[str, ...]:
        """Parameters that the body assigns, in order of the signature."""
        params = [d.name for d in self.defs.values() if d.kind == "param"]
        assigned = {d.name for d in self.defs.values() if d.kind != "param"}
        return tuple(name for name in params if name in assigned)

    def enclosing(self, node: cst.CSTNode, *kinds: type[cst.CSTNode]) -> cst.CSTNode | None:
        """The nearest node around this one that is of one of these kinds."""
        at = self.parents.get(node)
        while at is not None and not isinstance(at, kinds):
            at = self.parents.get(at)
        return at

    @property
    def dialect(self) -> str:
        """`block-pointer`, `offset-vector`, `mixed`, or `scalar` where no tile is moved."""
        blocks = bool(self.calls_of("make_block_ptr"))
        vectors = any(_is_tile(self.value(_pointer(c))) for c in self.calls_of("load", "store"))
        return {(True, True): "mixed", (True, False): "block-pointer", (False, True): "offset-vector"}.get(
            (blocks, vectors), "scalar"
        )

    def explain(self, node: cst.CSTNode) -> str | None:
        """What stopped the analysis at or below a node, None if nothing did."""
        value = self.value(node)
        unknown = _first_unknown(value)
        if unknown is None:
            return None
        place = unknown.node if unknown.node is not None else node
        return f"{unknown.why}: {code_of(place)}"


def _pointer(call: cst.Call) -> cst.BaseExpression:
    return argument(call, 0, "pointer") or call


def argument(call: cst.Call, index: int, name: str) -> cst.BaseExpression | None:
    """The expression that a call passes by this position or keyword."""
    for arg in call.args:
        if arg.keyword is not None and arg.keyword.value == name:
            return arg.value
    positional = [a.value for a in call.args if a.keyword is None and not a.star]
    return positional[index] if index < len(positional) else None


def _is_tile(value: Value) -> bool:
    return any(isinstance(leaf, Ptr) and leaf.shape for _, leaf in alternatives(value))


def _first_unknown(value: Value) -> Unknown | None:
    for _, leaf in alternatives(value):
        if isinstance(leaf, Unknown):
            return leaf
        if isinstance(leaf, Tup):
            found = _first(_first_unknown(item) for item in leaf.items)
            if found is not None:
                return found
    return None


def _first(items: Iterable[Unknown | None]) -> Unknown | None:
    return next((item for item in items if item is not None), None)
