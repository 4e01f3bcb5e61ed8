"""Every load and store of a kernel: which parameter, which scalar offset, which stride per tile dimension."""

from __future__ import annotations

from dataclasses import dataclass

import libcst as cst

from tritonport.facts.algebra.facts import KernelFacts, argument
from tritonport.facts.algebra.poly import ZERO, Poly, lane
from tritonport.facts.algebra.values import (
    BlockPtr,
    Bound,
    Const,
    Mask,
    Ptr,
    Shape,
    Tup,
    Unknown,
    Value,
    alternatives,
    assume,
)
from tritonport.facts.walk import code_of


@dataclass(frozen=True)
class Address:
    """One address tile. tests: outcomes of constexpr tests under which it is the one.

    offset = scalar + sum of strides[d] * lane(d, shape[d]). rest: the part where lanes multiply each other or stand
    inside a quotient; zero for an affine tile. bounds: the mask as compares that all hold, None if it is not such.
    block: the block pointer, for that dialect; its boundary check is in bounds.
    """

    tests: tuple[tuple[str, bool], ...]
    base: str
    shape: Shape
    scalar: Poly
    strides: tuple[Poly, ...]
    rest: Poly
    bounds: tuple[Bound, ...] | None
    block: BlockPtr | None = None

    @property
    def affine(self) -> bool:
        return self.rest.is_zero


@dataclass(frozen=True)
class Access:
    """One load or store. why: what stopped the analysis, None when every alternative of its address is known."""

    node: cst.Call
    kind: str
    pointer: cst.BaseExpression
    stored: cst.BaseExpression | None
    mask: cst.BaseExpression | None
    other: cst.BaseExpression | None
    checked: tuple[int, ...]
    addresses: tuple[Address, ...]
    why: str | None

    @property
    def bases(self) -> frozenset[str]:
        return frozenset(a.base for a in self.addresses)


def accesses(facts: KernelFacts) -> tuple[Access, ...]:
    """Loads and stores in evaluation order."""
    if facts.accesses is None:
        calls = facts.calls_of("load", "store")
        found = [_access(facts, call, facts.calls[call].rpartition(".")[2]) for call in calls]
        facts.accesses = tuple(a for a in found if a is not None)
    return facts.accesses


def _access(facts: KernelFacts, call: cst.Call, kind: str) -> Access | None:
    pointer = argument(call, 0, "pointer")
    if pointer is None:
        return None
    shift = 1 if kind == "store" else 0
    mask = argument(call, 1 + shift, "mask")
    other = None if shift else argument(call, 2, "other")
    checked = _checked(facts, argument(call, 2 if shift else 3, "boundary_check"))
    guard = facts.value(mask) if mask is not None else None
    whole = facts.value(pointer) if guard is None else Tup((facts.value(pointer), guard))
    found: list[Address] = []
    why: str | None = None
    for tests, leaf in _leaves(whole):
        address, guard = leaf.items if isinstance(leaf, Tup) else (leaf, None)
        if isinstance(address, (Ptr, BlockPtr)):
            found.append(_address(tuple(tests.items()), address, guard, checked))
        else:
            why = why or _why(facts, pointer, address)
    stored = argument(call, 1, "value") if shift else None
    return Access(call, kind, pointer, stored, mask, other, checked, tuple(found), why)


def _leaves(value: Value) -> tuple[tuple[dict[str, bool], Value], ...]:
    """Alternatives of a value, or of an (address, mask) pair: both under the same tests."""
    if not isinstance(value, Tup):
        return alternatives(value)
    address, mask = value.items
    found: list[tuple[dict[str, bool], Value]] = []
    for tests, leaf in alternatives(address):
        rest = mask
        for test, outcome in tests.items():
            rest = assume(rest, test, outcome=outcome)
        found += [({**tests, **more}, Tup((leaf, m))) for more, m in alternatives(rest)]
    return tuple(found)


def _why(facts: KernelFacts, node: cst.CSTNode, value: Value) -> str:
    if isinstance(value, Unknown):
        place = value.node if value.node is not None else node
        return f"{value.why}: {code_of(place)}"
    return facts.explain(node) or f"not an address: {code_of(node)}"


def _checked(facts: KernelFacts, node: cst.BaseExpression | None) -> tuple[int, ...]:
    value = facts.value(node) if node is not None else None
    items = value.items if isinstance(value, Tup) else () if value is None else (value,)
    return tuple(i.value for i in items if isinstance(i, Const) and isinstance(i.value, int))


def _address(
    tests: tuple[tuple[str, bool], ...], value: Ptr | BlockPtr, guard: Value | None, checked: tuple[int, ...]
) -> Address:
    if isinstance(value, BlockPtr):
        return _block_address(tests, value, checked)
    scalar, strides, rest = split(value.offset, value.shape)
    bounds = () if guard is None else guard.bounds if isinstance(guard, Mask) else None
    return Address(tests, value.base, value.shape, scalar, strides, rest, bounds)


def split(offset: Poly, shape: Shape) -> tuple[Poly, tuple[Poly, ...], Poly]:
    """(scalar part, stride of each dimension, what is not affine) of an offset over a tile."""
    rest = offset
    strides: list[Poly] = []
    for dim, extent in enumerate(shape):
        symbol = lane(dim, extent)
        stride = rest.coefficient(symbol)
        if stride is None or stride.lanes():
            stride = ZERO
        strides.append(stride)
        rest = rest - stride * Poly.of(symbol)
    scalar, tile = rest.split(lambda mono: not any(mentions_lane(s) for s in mono))
    return scalar, tuple(strides), tile


def mentions_lane(symbol: object) -> bool:
    """Whether a symbol is a lane, or an operation on one."""
    kind, parts = getattr(symbol, "kind", ""), getattr(symbol, "parts", ())
    return kind == "lane" or any(mentions_lane(s) for p in parts for s in p.symbols)


def _block_address(tests: tuple[tuple[str, bool], ...], value: BlockPtr, checked: tuple[int, ...]) -> Address:
    scalar = value.base.offset
    for offset, stride in zip(value.offsets, value.strides, strict=True):
        scalar = scalar + offset * stride
    bounds = tuple(
        Bound(value.offsets[d] + Poly.of(lane(d, value.block[d])), "<", value.shape[d])
        for d in checked
        if d < len(value.block)
    )
    return Address(tests, value.base.base, value.block, scalar, value.strides, ZERO, bounds, value)
