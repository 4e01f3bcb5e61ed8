"""What couples the tasks of a kernel, or a task with what it wrote itself, through global memory."""

from __future__ import annotations

import ast
from collections.abc import Iterator

import libcst as cst

from tritonport.engine.context import FileContext
from tritonport.facts.algebra import Access, Address, Def, KernelFacts, Poly, accesses
from tritonport.facts.walk import find, names_in, walk
from tritonport.passes._reload import barrier_between, reloads, same_addresses

Reason = tuple[cst.CSTNode, str]
_READS = ("triton.language.load", "triton.language.atomic_")


def coupled(file: FileContext, key: str, facts: KernelFacts) -> Iterator[Reason]:
    """Accesses that need an order which a persistent kernel does not keep, with the way out; in source order."""
    found = accesses(facts)
    same = _passed_twice(file, key)
    ordered = [(r.load.node, r.store.node) for r in reloads(facts) if r.is_tile and barrier_between(facts, r)]
    for load in (a for a in found if a.kind == "load"):
        stores = [s for s in found if s.kind == "store" and (load.node, s.node) not in ordered]
        reason = next((why for store in stores for why in _conflict(facts, load, store, same)), None)
        if reason is not None:
            yield load.node, reason
    yield from _waits(facts)


def _passed_twice(file: FileContext, key: str) -> dict[str, str]:
    """Parameters for which some launch passes the tensor of an earlier one: the later name by the earlier."""
    found: dict[str, str] = {}
    for site in file.analysis.sites:
        if key in site.kernels:
            first: dict[str, str] = {}
            names = file.analysis.functions[key].parameters
            given = [*zip(names, site.node.args, strict=False)]
            given += [(k.arg, k.value) for k in site.node.keywords if k.arg is not None]
            for name, value in given:
                if isinstance(value, ast.Name | ast.Attribute):
                    found.setdefault(name, first.setdefault(ast.dump(value), name))
    return found


def _conflict(facts: KernelFacts, load: Access, store: Access, same: dict[str, str]) -> Iterator[str]:
    if load.why is not None or store.why is not None or _apart(facts, load, store):
        return
    for read in load.addresses:
        for written in store.addresses:
            if same.get(read.base, read.base) != same.get(written.base, written.base):
                continue
            if _contradict(read, written):
                continue
            if same_addresses(read, written):
                if facts.order[load.node] > facts.order[store.node]:
                    yield (
                        f"`{read.base}` is stored and read again by one task, and the read may come first on the "
                        "target: keep the value, or split the kernel there"
                    )
            elif _is_neighbour(read, written):
                yield (
                    f"`{read.base}` is read where another task writes it, and tasks run in no order: make the axis "
                    "a loop of the kernel, or launch once per step"
                )


def _apart(facts: KernelFacts, load: Access, store: Access) -> bool:
    """Whether the two stand in different branches of one constexpr test."""
    here = facts.tests.get(load.node, {})
    return any(
        here.get(test, outcome) != outcome for test, outcome in facts.tests.get(store.node, {}).items()
    )


def _contradict(read: Address, written: Address) -> bool:
    known = dict(read.tests)
    return any(known.get(test, outcome) != outcome for test, outcome in written.tests)


def _is_neighbour(read: Address, written: Address) -> bool:
    """Whether the addresses differ by whole steps of a program id: the tile of another task."""
    distance = read.scalar - written.scalar
    if distance.is_zero or read.strides != written.strides or read.rest != written.rest:
        return False
    ids = [s for s in written.scalar.symbols if s.kind == "pid"]
    steps = [written.scalar.coefficient(symbol) for symbol in ids]
    return any(step is not None and _multiple(distance, step) for step in steps)


def _multiple(distance: Poly, step: Poly) -> bool:
    """Whether a distance is a step times a whole number other than zero."""
    if step.is_zero or len(distance.terms) != len(step.terms):
        return False
    factors: set[int] = set()
    for (mono, ours), (other, theirs) in zip(distance.terms, step.terms, strict=True):
        if mono != other or ours % theirs:
            return False
        factors.add(ours // theirs)
    return len(factors) == 1


def _waits(facts: KernelFacts) -> Iterator[Reason]:
    """Loops that end when another program has written something."""
    for loop in find(facts.function.body, cst.While):
        moving = {d.name for d in facts.defs.values() if d.target in set(walk(loop.body))}
        tested = [*walk(loop.test), *(part for d in _tested(facts, loop) for part in walk(d))]
        for call in (node for node in tested if isinstance(node, cst.Call)):
            pointer = call.args[0].value if call.args else None
            reads = facts.calls.get(call, "").startswith(_READS)
            if reads and pointer is not None and moving.isdisjoint(n.value for n in names_in(pointer)):
                why = (
                    "the loop waits for what another program writes: with fewer cores than programs that one may never "
                    "start; end the kernel there and launch a second one"
                )
                yield loop, why
                break


def _tested(facts: KernelFacts, loop: cst.While) -> Iterator[cst.CSTNode]:
    """What the names of a loop's test are given inside the loop."""
    inside = set(walk(loop.body))
    for name in names_in(loop.test):
        for definition in facts.reads.get(name, frozenset[Def]()):
            if definition.target in inside and definition.expr is not None:
                yield definition.expr
