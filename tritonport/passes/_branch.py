"""One run-time branch of a kernel: what it assigns, what of that is read behind it, and whether it can do without its
test."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from functools import cached_property

import libcst as cst

from tritonport.facts.algebra import Access, Address, Def, KernelFacts, accesses
from tritonport.facts.algebra.calls import is_elementwise
from tritonport.facts.algebra.expressions import is_constexpr
from tritonport.facts.algebra.poly import Poly
from tritonport.facts.algebra.values import Bound, Data, Mask, Unknown, Value, alternatives, assume, shape_of
from tritonport.facts.walk import code_of, names_in, walk
from tritonport.passes.guards import at_least_zero, proves

_SHAPING = frozenset(
    {"trans", "permute", "reshape", "view", "broadcast_to", "expand_dims", "arange", "zeros", "full"}
)
_MEMORY = frozenset({"load", "store", "make_block_ptr"})
_SUMMING = frozenset({"sum", "max", "min"})
_METHODS = frozenset({"to"})
_WHOLE_DIVISIONS = (cst.FloorDivide, cst.Modulo, cst.FloorDivideAssign, cst.ModuloAssign)
_DIVISIONS = (*_WHOLE_DIVISIONS, cst.Divide, cst.DivideAssign)


@dataclass(frozen=True)
class Branch:
    """`if known and test:` with nothing behind `else`. known: the parts that are decided when the kernel compiles."""

    facts: KernelFacts
    node: cst.If
    test: cst.BaseExpression
    known: tuple[cst.BaseExpression, ...]

    @cached_property
    def inside(self) -> frozenset[cst.CSTNode]:
        return frozenset(walk(self.node.body))

    @cached_property
    def defs(self) -> dict[str, list[Def]]:
        """What the branch assigns, by name, in order."""
        found: dict[str, list[Def]] = {}
        for definition in self.facts.defs.values():
            if definition.target in self.inside:
                found.setdefault(definition.name, []).append(definition)
        return found

    @cached_property
    def live(self) -> dict[str, list[Def]]:
        """Names whose value behind the branch is read, with what may have filled them before it."""
        found: dict[str, list[Def]] = {}
        for name, own in self.defs.items():
            uses = [use for use in self.facts.reads if use.value == name]
            reads = {use: self.facts.reads[use] for use in uses}
            if any(
                not defs.isdisjoint(own) and self._is_behind(use, defs, own) for use, defs in reads.items()
            ):
                near = [d for use in uses if self._is_near(use, reads[use], own) for d in reads[use]]
                found[name] = [d for d in dict.fromkeys(near) if d not in own and self._comes_before(d)]
        return found

    def _comes_before(self, definition: Def) -> bool:
        """Whether an assignment stands before the branch, or behind it in a loop around both."""
        at, loops = self.facts.order, self.facts.loops
        around = set(loops[self.test]) & set(loops.get(definition.target, ()))
        return at.get(definition.target, 0) < at[self.test] or bool(around)

    def _is_behind(self, use: cst.Name, defs: frozenset[Def], own: list[Def]) -> bool:
        """Whether a read of what the branch assigns stands outside of it, or comes round to it in a loop."""
        return use not in self.inside or not defs <= set(own)

    def _is_near(self, use: cst.Name, defs: frozenset[Def], own: list[Def]) -> bool:
        """Whether a read finds what the branch assigns or, in it, what was there before."""
        return use in self.inside or not defs.isdisjoint(own)


def branch_of(facts: KernelFacts, node: cst.If) -> Branch | None:
    """The branch of an `if` with one test at run time; None for `else`, `elif` and other tests."""
    if node.orelse is not None or isinstance(facts.parents.get(node), cst.If) or node not in facts.parents:
        return None
    parts = list(_conjuncts(node.test))
    known = tuple(part for part in parts if is_constexpr(facts.value(part)))
    open_parts = [part for part in parts if part not in known]
    if len(open_parts) != 1 or not isinstance(open_parts[0], cst.Comparison):
        return None
    (test,) = open_parts
    value = facts.value(test)
    scalar = all(isinstance(leaf, Mask) and leaf.shape == () for _, leaf in alternatives(value))
    return Branch(facts, node, test, known) if scalar else None


def _conjuncts(node: cst.BaseExpression) -> Iterator[cst.BaseExpression]:
    if isinstance(node, cst.BooleanOperation) and isinstance(node.operator, cst.And):
        yield from _conjuncts(node.left)
        yield from _conjuncts(node.right)
    else:
        yield node


def obstacle(branch: Branch) -> str | None:
    """Why the branch's statements may not run where its test does not hold; None where they may."""
    facts = branch.facts
    small = _small_statements(branch.node.body)
    if small is None:
        return "a loop or another branch in it"
    other = next((s for s in small if not _is_simple(facts, s)), None)
    if other is not None:
        return f"`{code_of(other)}` in the branch"
    for node in branch.inside:
        why = _effect(facts, node)
        if why is not None:
            return why
    for access in accesses(facts):
        if access.node in branch.inside and not _is_masked(branch, access):
            return f"`{code_of(access.node)}` has no mask that holds only where `{code_of(branch.test)}` does"
    changed = next((n.value for n in names_in(branch.test) if n.value in branch.defs), None)
    if changed is not None:
        return f"`{changed}` of the test is assigned in the branch"
    return _clash(branch)


def _small_statements(body: cst.BaseSuite) -> list[cst.BaseSmallStatement] | None:
    """The statements of a block, None where one of them has a block of its own."""
    found: list[cst.BaseSmallStatement] = []
    for item in body.body:
        if isinstance(item, cst.SimpleStatementLine):
            found += item.body
        elif isinstance(item, cst.BaseSmallStatement):
            found.append(item)
        else:
            return None
    return found


def _is_simple(facts: KernelFacts, node: cst.BaseSmallStatement) -> bool:
    if isinstance(node, cst.Assign):
        return len(node.targets) == 1 and isinstance(node.targets[0].target, cst.Name)
    if isinstance(node, cst.Expr):
        return isinstance(node.value, cst.Call) and facts.calls.get(node.value) == "triton.language.store"
    return isinstance(node, cst.AugAssign) and isinstance(node.target, cst.Name)


def _effect(facts: KernelFacts, node: cst.CSTNode) -> str | None:
    """Why an expression may do more, where the test does not hold, than give a value that nobody reads."""
    if isinstance(node, cst.Call) and not _gives_a_value(facts, node):
        return f"`{code_of(node)}` in the branch"
    if not isinstance(node, cst.BinaryOperation | cst.AugAssign) or not isinstance(node.operator, _DIVISIONS):
        return None
    by = node.right if isinstance(node, cst.BinaryOperation) else node.value
    value = facts.value(by)
    # A quotient of floats has a value for every divisor; in the interpreter a loop's variable is a Python int.
    if is_constexpr(value) or (isinstance(value, Data) and not isinstance(node.operator, _WHOLE_DIVISIONS)):
        return None
    return f"a division by `{code_of(by)}`, which may be zero where the test does not hold"


def _gives_a_value(facts: KernelFacts, node: cst.Call) -> bool:
    name = facts.calls.get(node)
    if name is None:
        method = isinstance(node.func, cst.Attribute) and node.func.attr.value in _METHODS
        value = facts.value(node)
        followed = node not in facts.mixing and not (isinstance(value, Unknown) and value.node is node)
        return method or (isinstance(node.func, cst.Name) and followed)
    short = name.removeprefix("triton.language.")
    return name == "float" or is_elementwise(name) or short in _SHAPING | _MEMORY | _SUMMING


def _is_masked(branch: Branch, access: Access) -> bool:
    """Whether a load or store touches nothing where the branch's test does not hold."""
    value = branch.facts.value(branch.test)
    known = access.why is None and bool(access.addresses)
    return known and all(_only_where(address, value) for address in access.addresses)


def _only_where(address: Address, test: Value) -> bool:
    for name, outcome in address.tests:
        test = assume(test, name, outcome=outcome)
    for _, leaf in alternatives(test):
        wanted = leaf.bounds if isinstance(leaf, Mask) else None
        if wanted is None or address.bounds is None:
            return False
        guards = tuple(poly for bound in address.bounds for poly in at_least_zero(bound))
        if not all(_follows(guards, bound) for bound in wanted):
            return False
    return True


def _follows(guards: tuple[Poly, ...], bound: Bound) -> bool:
    return bound.op != "!=" and all(proves(guards, poly, exactly=False) for poly in at_least_zero(bound))


def _clash(branch: Branch) -> str | None:
    """A name of the branch's own that becomes visible behind it, where a loop or branch has it for something else."""
    facts = branch.facts
    for name in branch.defs:
        if name in branch.live:
            continue
        last = max(facts.order[d.target] for d in branch.defs[name])
        shapes = {shape_of(facts.value(d.target)) for d in branch.defs[name]}
        for other in facts.defs_of(name):
            later = other.target not in branch.inside and facts.order.get(other.target, 0) > last
            alike = shapes == {shape_of(facts.value(other.target))} and None not in shapes
            if later and not alike and _stands_deeper(branch, other):
                return f"`{name}` is something else in a loop or a branch further down"
    return None


def _stands_deeper(branch: Branch, other: Def) -> bool:
    """Whether an assignment stands in a loop or a branch that begins in the loop (or the function) of this branch."""
    around = list(_around(branch.facts, branch.node))
    loop = next((node for node in around if isinstance(node, cst.For | cst.While)), branch.facts.function)
    between: list[cst.CSTNode] = []
    for node in _around(branch.facts, other.target):
        if node in around:
            return node in around[: around.index(loop) + 1] and bool(between)
        if isinstance(node, cst.For | cst.While | cst.If):
            between.append(node)
    return False


def _around(facts: KernelFacts, node: cst.CSTNode) -> Iterator[cst.CSTNode]:
    """The nodes around a node, from the nearest out to the function."""
    at = facts.parents.get(node)
    while at is not None:
        yield at
        at = facts.parents.get(at)
