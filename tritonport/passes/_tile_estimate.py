"""How much of the unified buffer a kernel's tiles may take, where no compiler was asked.

A tile of data that the kernel's text gives a name to counts from there to its last use, at 32 bits per element; what is
loaded counts twice, since the compiler buffers loads twice. The estimate is the largest sum at any place of the text,
branches that exclude each other added up. Index tiles do not count: contiguous transfers need none. Extents that are
not known count as 64.
"""

from __future__ import annotations

import itertools
import math
from collections.abc import Mapping

import libcst as cst

from tritonport.facts.algebra import KernelFacts
from tritonport.facts.algebra.poly import Poly, Symbol
from tritonport.facts.algebra.values import Data, alternatives

UNKNOWN = 64
SHARE = 1 / 8
"""Share of the buffer that an estimate may take. Unnamed intermediates and the compiler's own buffers are most of what
a kernel without a matrix product needs: l2norm of fla-core 0.6.0 takes 5 to 8 times its estimate (measured with
ascendnpu-ir 1.2.0 and 1.1.0)."""


def estimated_bits(facts: KernelFacts, tiles: Mapping[str, int]) -> int:
    """Most bits that named tiles of data take at one place, at these tile sizes."""
    loads = set(facts.calls_of("load"))
    changes: list[tuple[int, int]] = []
    for definition in facts.defs.values():
        bits = 0 if definition.expr is None else _bits(facts, definition.expr, tiles)
        if bits:
            start = facts.order[definition.target]
            uses = [facts.order[use] for use in facts.uses(definition)]
            bits *= 2 if definition.expr in loads else 1
            changes += [(start, bits), (max([start, *uses]) + 1, -bits)]
    return max(itertools.accumulate(bits for _, bits in sorted(changes)), default=0)


def _bits(facts: KernelFacts, expr: cst.CSTNode, tiles: Mapping[str, int]) -> int:
    shapes = [leaf.shape for _, leaf in alternatives(facts.value(expr)) if isinstance(leaf, Data)]
    sizes = [32 * math.prod(_extent(poly, tiles) for poly in shape) for shape in shapes if shape]
    return max(sizes, default=0)


def _extent(poly: Poly, tiles: Mapping[str, int]) -> int:
    if poly.value is not None:
        return poly.value
    return sum(factor * math.prod(_size(symbol, tiles) for symbol in mono) for mono, factor in poly.terms)


def _size(symbol: Symbol, tiles: Mapping[str, int]) -> int:
    return tiles.get(symbol.label, UNKNOWN)


def estimated_tiles(
    facts: KernelFacts, candidates: Mapping[str, frozenset[int]], limit_bits: int
) -> tuple[dict[str, int], int] | None:
    """The largest tiles of upstream's own that stay within the share, and their bits.

    candidates: by parameter, the sizes that upstream's text names. None where it names none, or none of them stays.
    """
    names = list(candidates)
    sets = [dict(zip(names, sizes, strict=True)) for sizes in itertools.product(*candidates.values())]
    sets.sort(key=lambda tiles: (-math.prod(tiles.values()), sorted(tiles.items())))
    for tiles in sets:
        bits = estimated_bits(facts, tiles)
        if bits <= SHARE * limit_bits:
            return tiles, bits
    return None
