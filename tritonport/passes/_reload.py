"""Loads that read back what the same task stored before."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

import libcst as cst

from tritonport.facts.algebra import Access, Address, KernelFacts, Poly, Symbol, accesses
from tritonport.facts.algebra.poly import ONE
from tritonport.facts.algebra.values import Bound
from tritonport.facts.walk import code_of

BARRIER = "debug_barrier"


@dataclass(frozen=True)
class Reload:
    """A load of the addresses that a store before it has written, in one task."""

    load: Access
    store: Access
    address: Address

    @property
    def is_tile(self) -> bool:
        """Whether more than one element is moved: a single one goes another way on the target, through a cache."""
        return any(extent != ONE for extent in self.address.shape)


def reloads(facts: KernelFacts) -> Iterator[Reload]:
    """Every load, with each store before it at the same addresses; in source order."""
    found = accesses(facts)
    for load in (a for a in found if a.kind == "load" and a.why is None):
        for store in (s for s in found if s.kind == "store" and s.why is None and _before(facts, s, load)):
            reload = _reload(load, store)
            if reload is not None:
                yield reload


def _before(facts: KernelFacts, store: Access, load: Access) -> bool:
    """Whether a store may come before a load: it stands before it, and no constexpr test keeps the two apart."""
    here = facts.tests.get(load.node, {})
    apart = any(here.get(test, known) != known for test, known in facts.tests.get(store.node, {}).items())
    return not apart and facts.order[store.node] < facts.order[load.node]


def _reload(load: Access, store: Access) -> Reload | None:
    for read in load.addresses:
        for written in store.addresses:
            known = dict(read.tests)
            apart = any(known.get(test, outcome) != outcome for test, outcome in written.tests)
            if read.base == written.base and not apart and same_addresses(read, written):
                return Reload(load, store, read)
    return None


def same_addresses(read: Address, written: Address) -> bool:
    """Whether two tiles cover the same elements, over all trips of the loops that only one of them stands in."""
    theirs = _Ranges(read, written), _Ranges(written, read)
    first, second = (ranges.apply(a.scalar) for ranges, a in zip(theirs, (read, written), strict=True))
    return first is not None and (first, read.strides, read.rest) == (second, written.strides, written.rest)


def written_whole(facts: KernelFacts, load: Access) -> bool:
    """Whether everything that a load reads was stored by the task itself, whatever it was before."""
    return load.why is None and all(
        any(_covers(facts, store, address, load) for store in accesses(facts) if store.kind == "store")
        for address in load.addresses
    )


def _covers(facts: KernelFacts, store: Access, read: Address, load: Access) -> bool:
    if store.why is not None or len(store.addresses) != 1 or not _before(facts, store, load):
        return False
    (written,) = store.addresses
    known = {**facts.tests.get(load.node, {}), **dict(read.tests)}
    certain = all(known.get(test) == outcome for test, outcome in facts.tests.get(store.node, {}).items())
    ranges = _Ranges(read, written), _Ranges(written, read)
    return (
        certain
        and read.base == written.base
        and same_addresses(read, written)
        and ranges[0].bounds(read.bounds) == ranges[1].bounds(written.bounds) is not None
        and _branches(facts, store.node) <= _branches(facts, load.node)
    )


def _branches(facts: KernelFacts, node: cst.CSTNode) -> set[cst.CSTNode]:
    """The blocks of run-time branches, and of loops that may end early, around a node."""
    found: set[cst.CSTNode] = set()
    at: cst.CSTNode | None = node
    while at is not None:
        up = facts.parents.get(at)
        test = up.test if isinstance(up, (cst.If, cst.While)) else None
        if test is not None and at is not test and not _is_constexpr(facts, test, node):
            found.add(at)
        at = up
    return found


def _is_constexpr(facts: KernelFacts, test: cst.BaseExpression, node: cst.CSTNode) -> bool:
    """Whether the test of a branch around a node is one of those that the facts know there."""
    text = code_of(test)
    return text in facts.tests.get(node, {})


class _Ranges:
    """Loop variables that only one of two addresses has, named by their range: two loops over one range are alike."""

    def __init__(self, own: Address, other: Address) -> None:
        shared = other.scalar.symbols
        self.names: dict[Symbol, Poly] = {}
        loops = [s for s in own.scalar.symbols if s.kind == "loop" and s not in shared]
        keys = [f"over {s.lo} to {s.hi}" for s in loops]
        self.known = len(set(keys)) == len(keys) and all(s.lo is not None and s.hi is not None for s in loops)
        for symbol, key in zip(loops, keys, strict=True):
            self.names[symbol] = Poly.of(Symbol(key, "loop", key, symbol.lo, symbol.hi))

    def apply(self, poly: Poly) -> Poly | None:
        """The polynomial with ranges for names; None where a range is not known, or stands for two variables."""
        return poly.map_symbols(lambda s: self.names.get(s, Poly.of(s))) if self.known else None

    def bounds(
        self, bounds: tuple[Bound, ...] | None
    ) -> frozenset[tuple[Poly | None, str, Poly | None]] | None:
        if bounds is None or not self.known:
            return None
        return frozenset((self.apply(b.left), b.op, self.apply(b.right)) for b in bounds)


def barrier_between(facts: KernelFacts, reload: Reload) -> bool:
    """Whether every way from the store to the load passes a barrier."""
    start, end = facts.order[reload.store.node], facts.order[reload.load.node]
    blocks = _blocks(facts, reload.load.node)
    return any(
        start < facts.order[call] < end and _blocks(facts, call) <= blocks for call in facts.calls_of(BARRIER)
    )


def _blocks(facts: KernelFacts, node: cst.CSTNode) -> set[cst.CSTNode]:
    """Every block of statements around a node."""
    found: set[cst.CSTNode] = set()
    at = facts.parents.get(node)
    while at is not None:
        if isinstance(at, cst.BaseSuite):
            found.add(at)
        at = facts.parents.get(at)
    return found


def statement_behind(facts: KernelFacts, reload: Reload) -> cst.CSTNode:
    """The statement with the load in the innermost block that holds the store too: before it both have met."""
    blocks = _blocks(facts, reload.store.node)
    at: cst.CSTNode = reload.load.node
    while (up := facts.parents.get(at)) is not None and up not in blocks:
        at = up
    return at
