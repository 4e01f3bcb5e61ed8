"""What is better: the one place that says how variants of a kernel are compared, and in which order they are tried."""

from __future__ import annotations

import itertools
import math
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass

from tritonport.npu.measure import Measurement

SCALAR_SLACK = 4
"""Scalar iterations per program that do not count: reductions over a whole tile and single elements."""
CUBE_SIZES: tuple[int, ...] = (128, 64, 32)
VECTOR_SIZES: tuple[int, ...] = (128, 64, 32, 16, 8)
"""Tile sizes to try. A matrix product needs 16 at least and works on blocks of 16; below 32 most of it is overhead."""

FULL = 90.0
"""Per cent of the unified buffer beyond which a plan is tight."""
ONE_BUFFER = (("limit_auto_multi_buffer_only_for_local_buffer", True),)
"""Compiler option: what cube and vector cores exchange has one buffer, so that the next task does not start before the
last is done with it. The loop over tasks gives it two otherwise, which takes up to half of the unified buffer."""
Options = tuple[tuple[str, bool | int | str], ...]

Tiles = Mapping[str, int]


@dataclass(frozen=True, order=True, slots=True)
class Score:
    """Smaller is better, member by member in this order.

    unfit: specialisations that do not compile.
    scalar: iterations of element-by-element loops over the slack, per lane of the tile set, since programs with larger
    tiles are fewer. discrete: elements moved alone, per lane too.
    unsplit: specialisations whose vector half is not split over two cores.
    lanes: the negative of the elements of one tile set (larger tiles: fewer tasks and iterations).
    tight: specialisations that leave less of the unified buffer than a margin: the compiler's plan may move by a point
    with the folder that it runs in, and other sizes need a little more.
    traffic: syncs between cores and pipe barriers, in powers of two: a few flags more or less, of fifty, say less than
    half of the buffer. head_room: per cent of the unified buffer, the worst.
    off: rules that the kernel goes without, so that the profile wins where nothing else differs.
    """

    unfit: int
    scalar: float
    discrete: float
    unsplit: int
    lanes: int
    tight: int
    traffic: int
    head_room: float
    off: int

    @property
    def ideal(self) -> bool:
        """Whether only smaller figures of the last rank are left to find."""
        return (self.unfit, self.scalar, self.discrete, self.unsplit, self.tight) == (0, 0, 0, 0, 0)


UNKNOWN = 10**6
"""What a figure that is not known counts as: worse than any that is."""


def score(measured: Sequence[Measurement], tiles: Tiles, off: int) -> Score:
    """The score of one kernel's specialisations with one set of tiles."""
    lanes = math.prod(tiles.values())
    return Score(
        unfit=sum(m.fits is not True or m.error is not None for m in measured),
        scalar=sum(max(_known(m.scalar_iterations) - SCALAR_SLACK, 0) for m in measured) / lanes,
        discrete=sum(_known(m.discrete_elements) for m in measured) / lanes,
        unsplit=sum(m.sub_block not in ("tiled", "none") for m in measured),
        lanes=-lanes,
        tight=sum((m.percent("UB") or 0.0) > FULL for m in measured),
        traffic=(1 + sum(_known(m.cross_core_syncs) + _known(m.barriers) for m in measured)).bit_length(),
        head_room=max((m.percent("UB") or 0.0 for m in measured), default=0.0),
        off=off,
    )


def _known(value: int | None) -> int:
    return UNKNOWN if value is None else value


def tile_sets(
    names: Sequence[str], *, cube: bool, limits: Mapping[str, int] | None = None
) -> list[dict[str, int]]:
    """Every set of sizes, largest first: of those that fit, the first is wanted most.

    limits: upstream's own, of tiles that the size of their axis decides: from there down, before all others.
    """
    sizes = CUBE_SIZES if cube else VECTOR_SIZES
    known = [(*_below((limits or {}).get(name, 0), sizes[0]), *sizes) for name in names]
    sets = [dict(zip(names, chosen, strict=True)) for chosen in itertools.product(*known)]
    return sorted(sets, key=lambda tiles: (-math.prod(tiles.values()), max(tiles.values(), default=0)))


def _below(limit: int, smallest: int) -> Iterator[int]:
    """Powers of two from a limit down, those above the smallest."""
    while limit > smallest:
        yield 1 << (limit.bit_length() - 1)
        limit >>= 1


def option_sets(*, cube: bool) -> tuple[Options, ...]:
    """Launch options to try: only kernels that use both kinds of cores exchange anything."""
    return ((), ONE_BUFFER) if cube else ((),)


def rule_sets(fired: Sequence[str], best: frozenset[str]) -> Iterator[frozenset[str]]:
    """Neighbours of the best set of left-out rules: one rule more, or one less."""
    for slug in fired:
        yield best ^ {slug}
