"""What goes wrong at sizes that no interpreter runs: offsets of 32 bits, row numbers in fp32.

Small runs show it all the same. A tile's first offset (its origin) moves from task to task in proportion to the
tensor; how far it gets into a tensor of n elements says at how many elements it passes 2^31.
"""

from __future__ import annotations

from dataclasses import dataclass

WRAPS = "int32 offsets grow with an argument"
FLOATS = "row numbers in fp32"
SIZE_KINDS = (WRAPS, FLOATS)
"""Findings that are errors only in migrated kernels whose original does not do the same."""

_MOVES = 0.25
"""Share of an argument that the origins of one statement have to cover; offsets within a head or a tile do not."""

_SMALL = 1 << 12
"""Arguments of fewer elements (tables, gates of one head) never grow to 2^31."""


@dataclass(slots=True)
class Reach:
    """Origins that one statement had in one launch. elements: of the argument. task: that of the highest one."""

    low: int
    high: int
    elements: int
    task: str

    def add(self, origin: int, task: str) -> None:
        self.low = min(self.low, origin)
        if origin > self.high:
            self.high, self.task = origin, task


def wraps_at(reach: Reach) -> int | None:
    """The number of elements from which a 32-bit offset passes 2^31, None where the offset does not grow."""
    moved = reach.high - reach.low
    if reach.elements < _SMALL or moved < _MOVES * reach.elements:
        return None
    return (2**31 * reach.elements) // reach.high


def wraps_text(argument: str, elements: int) -> str:
    return f"argument {argument}: passes 2^31 once it has {elements / 2**30:.2f} * 2^30 elements"


def rows_move(reach: Reach) -> bool:
    """Whether consecutive numbers, `elements` of them at a time, go on from task to task."""
    return reach.high - reach.low >= reach.elements > 1


FLOATS_TEXT = "consecutive numbers that grow with the input: fp32 holds no odd number above 2^24"
