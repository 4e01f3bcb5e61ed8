"""What the 32-bit offsets inside a tile take for granted, as an assertion that the compiler holds a kernel to."""

from __future__ import annotations

from collections.abc import Iterator

import libcst as cst

from tritonport.facts.algebra import KernelFacts, Poly, accesses
from tritonport.facts.algebra.accesses import Address
from tritonport.facts.algebra.poly import ZERO
from tritonport.passes._build import block_of

LIMIT = "2**31"


def extent_guard(facts: KernelFacts, module: str = "tl") -> str | None:
    """`tl.static_assert(BT*H*K + BK <= 2**31)`: no offset inside a tile leaves 32 bits.

    The offsets of one tile stay below the sum of extent times stride over its dimensions, and below the sum of those of
    all tiles, which is what is asserted: sizes are constexprs, so it costs nothing and is known when the kernel is
    compiled. None where every stride is 1 or only the host knows it (those offsets have 64 bits).
    """
    known = {p.name.value for p in facts.function.params.params if _is_constexpr(p)}
    reaches = dict.fromkeys(reach for reach in _reaches(facts) if _written(reach, known))
    return f"{module}.static_assert({sum(reaches, ZERO)} <= {LIMIT})" if reaches else None


def _reaches(facts: KernelFacts) -> Iterator[Poly]:
    """Per tile, the sum of extent times stride, for tiles with a stride that is no number.

    Triton itself computes the offsets of block pointers in 64 bits.
    """
    for access in accesses(facts):
        for address in access.addresses:
            if address.block is None and any(stride.symbols for stride in address.strides):
                yield _reach(address)


def _reach(address: Address) -> Poly:
    pairs = zip(address.shape, address.strides, strict=True)
    return sum((extent * stride for extent, stride in pairs), ZERO)


def _written(reach: Poly, known: set[str]) -> bool:
    """Whether a sum can be written where a kernel begins, and only grows with its sizes."""
    return all(s.kind == "constexpr" and s.label in known for s in reach.symbols) and all(
        factor > 0 for _, factor in reach.terms
    )


def _is_constexpr(param: cst.Param) -> bool:
    annotation = param.annotation.annotation if param.annotation is not None else None
    last = annotation.attr if isinstance(annotation, cst.Attribute) else annotation
    return isinstance(last, cst.Name) and last.value == "constexpr"


def with_guard(node: cst.CSTNode, guard: str) -> cst.IndentedBlock:
    """A body that begins with the assertion, behind its docstring."""
    assert isinstance(node, cst.BaseSuite)
    block = block_of(node)
    first = block.body[0]
    has_text = (
        isinstance(first, cst.SimpleStatementLine)
        and isinstance(first.body[0], cst.Expr)
        and isinstance(first.body[0].value, cst.SimpleString | cst.ConcatenatedString)
    )
    at = 1 if has_text else 0
    return block.with_changes(body=[*block.body[:at], cst.parse_statement(guard), *block.body[at:]])
