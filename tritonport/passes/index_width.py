"""index-width: 64-bit scalars on the pointer, 32-bit tile-local indices in the tile."""

from __future__ import annotations

from dataclasses import dataclass, field

import libcst as cst

from tritonport.engine.context import FileContext
from tritonport.engine.rule import RuleResult
from tritonport.facts.algebra import Def, KernelFacts
from tritonport.facts.algebra.poly import ZERO, Poly
from tritonport.facts.naming import fresh
from tritonport.facts.walk import children, code_of, names_in, walk
from tritonport.passes.kernels import kernels
from tritonport.passes.local_compare import LocalCompare
from tritonport.passes.loop_bounds import narrow_loops
from tritonport.passes.syntax import assign, bare, plus, replace, wrapped
from tritonport.passes.tile_extent import extent_guard, with_guard
from tritonport.passes.tile_split import Parts, Splitter, is_pointer, pointer_sum, scalar_of
from tritonport.record import RuleClass


class IndexWidth:
    """Rebases every index tile to its own tile; exact at every size."""

    slug = "index-width"
    rule_class: RuleClass = "exact"

    def run(self, file: FileContext) -> RuleResult:
        result = RuleResult()
        for kernel in kernels(file):
            rebase(kernel.facts, result, kernel.key)
        return result


def rebase(facts: KernelFacts, result: RuleResult, key: str) -> None:
    """All edits of one kernel."""
    plan = _Plan(facts)
    bounds = narrow_loops(facts, plan.splitter)
    plan.choose()
    rewrite = _Rewrite(plan, result, key)
    before = len(result.edits)
    for old, new in bounds.items():
        rewrite.replace(old, new)
    rewrite.below(facts.function.body)
    guard = extent_guard(facts) if len(result.edits) > before else None
    if guard is not None:
        result.rewrite(facts.function.body, lambda body: with_guard(body, guard), kernel=key, counts=False)


@dataclass
class _Plan:
    """Which names are rebased, and how each of their assignments comes apart."""

    facts: KernelFacts
    splitter: Splitter = field(init=False)
    parts: dict[Def, Parts] = field(default_factory=dict[Def, Parts])
    stopped: dict[Def, str] = field(default_factory=dict[Def, str])

    def __post_init__(self) -> None:
        self.splitter = Splitter(self.facts)

    def choose(self) -> None:
        """Rebases each name that is a wide scalar plus a tile in all of its assignments."""
        taken = {name.value for name in names_in(self.facts.function)}
        for name in dict.fromkeys(d.name for d in self._tiles()):
            base = fresh(f"{name}_base", taken)
            taken.add(base)
            self.splitter.bases[name] = base
        while not self._settle():
            continue

    def _tiles(self) -> list[Def]:
        found: list[Def] = []
        for definition in self.facts.defs.values():
            number = self.splitter.number(definition.target) if definition.kind in ("assign", "aug") else None
            if number is not None and number.shape and self._has_wide_scalar(definition):
                found.append(definition)
        return found

    def _has_wide_scalar(self, definition: Def) -> bool:
        """Whether an assignment holds a wide scalar, directly or through a name that does."""
        if definition.expr is None:
            return False
        return any(self._is_wide_part(node) for node in walk(definition.expr))

    def _is_wide_part(self, node: cst.CSTNode) -> bool:
        number = self.splitter.number(node) if isinstance(node, cst.BaseExpression) else None
        if number is None or not isinstance(node, cst.BaseExpression):
            return False
        return number.dtype not in ("int32", "weak") if number.shape else self.splitter.wide(node)

    def _settle(self) -> bool:
        """Drops the names of which an assignment does not come apart; True when nothing changed any more."""
        self.parts = {}
        dropped: set[str] = set()
        for definition in self.facts.defs.values():
            if definition.name not in self.splitter.bases or definition.kind == "param":
                continue
            parts = self._part(definition)
            if parts is None:
                dropped.add(definition.name)
                self.stopped[definition] = (
                    f"`{definition.name}` is not a scalar plus a tile in every assignment"
                )
            else:
                self.parts[definition] = parts
        names = {d.name for d, parts in self.parts.items() if parts.scalar is not None}
        dropped |= set(self.splitter.bases) - names
        for name in dropped:
            del self.splitter.bases[name]
        self.splitter.narrow_bases = {
            d.name for d, p in self.parts.items() if p.narrow and p.scalar is not None
        }
        shifts = {d: self._shift(d, parts) for d, parts in self.parts.items()}
        settled = not dropped and shifts == self.splitter.shifts
        self.splitter.shifts = shifts
        return settled

    def _shift(self, definition: Def, parts: Parts) -> Poly:
        """The scalars of an assignment that its tile keeps."""
        number = self.splitter.number(definition.target)
        return ZERO if number is None else scalar_of(number) - parts.poly

    def _part(self, definition: Def) -> Parts | None:
        if definition.kind != "assign" or definition.expr is None:
            return None
        if not isinstance(definition.node, cst.Assign) or len(definition.node.targets) != 1:
            return None
        if not isinstance(definition.node.targets[0].target, cst.Name):
            return None
        parts = self.splitter.split(definition.expr)
        return parts if parts is not None and parts.tile is not None else None


class _Rewrite:
    """Walks a kernel's body from the outside in; what it rewrites, it does not enter."""

    def __init__(self, plan: _Plan, result: RuleResult, key: str) -> None:
        self.plan = plan
        self.facts = plan.facts
        self.result = result
        self.kernel = key
        self.compare = LocalCompare(plan.splitter)

    def replace(self, node: cst.CSTNode, new: cst.CSTNode) -> None:
        replace(self.result, node, new, self.kernel)

    def below(self, node: cst.CSTNode) -> None:
        """Rewrites what stands below a node."""
        for child in children(node):
            if not self._rewritten(child):
                self.below(child)

    def _rewritten(self, node: cst.CSTNode) -> bool:
        """Rewrites a node where it is one of ours; False where its parts are still to be looked at."""
        if isinstance(node, cst.SimpleStatementLine):
            return self._statement(node)
        if isinstance(node, cst.Comparison):
            return self._comparison(node)
        if isinstance(node, cst.BinaryOperation):
            return self._address(node)
        if isinstance(node, cst.Name):
            self._name(node)
        return False

    def _statement(self, node: cst.SimpleStatementLine) -> bool:
        if len(node.body) != 1 or not isinstance(node.body[0], cst.Assign):
            return False
        target = node.body[0].targets[0].target
        definition = self.facts.defs.get(target) if isinstance(target, cst.Name) else None
        if definition is None or definition not in self.plan.parts:
            return False
        self._split_statement(node, node.body[0], definition)
        return True

    def _split_statement(self, node: cst.SimpleStatementLine, small: cst.Assign, definition: Def) -> None:
        parts = self.plan.parts[definition]
        base = self.plan.splitter.bases[definition.name]
        scalar = assign(base, parts.scalar if parts.scalar is not None else cst.Integer("0"))
        first = cst.SimpleStatementLine([scalar], leading_lines=node.leading_lines)
        assert parts.tile is not None
        tile = small if parts.tile is small.value else small.with_changes(value=bare(parts.tile))
        second = node.with_changes(body=[tile], leading_lines=[])
        lines = [first.deep_clone(), second.deep_clone()]
        self.result.rewrite(node, lambda _: cst.FlattenSentinel(lines), kernel=self.kernel)

    def _comparison(self, node: cst.Comparison) -> bool:
        new = self.compare.rewritten(node)
        if new is not None and new is not node:
            self.replace(node, new)
        return new is not None

    def _address(self, node: cst.BinaryOperation) -> bool:
        new = pointer_sum(self.plan.splitter, node) if is_pointer(self.facts.value(node)) else None
        if new is not None:
            self.replace(node, new.with_changes(lpar=node.lpar, rpar=node.rpar))
        return new is not None

    def _name(self, node: cst.Name) -> None:
        """Any other use of a rebased name sees the whole index again."""
        base = self.plan.splitter.bases.get(node.value)
        if base is not None and node in self.facts.reads:
            self.replace(node, wrapped(plus(cst.Name(base), node)))
            self.result.not_applicable(
                node, f"`{code_of(node)}` is used as a whole index here", kernel=self.kernel
            )


RULE = IndexWidth()
