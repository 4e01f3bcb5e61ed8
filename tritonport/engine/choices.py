"""What was chosen for single kernels (tile sizes, rules left out), apart from the profile that holds for all."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field


@dataclass(frozen=True, slots=True)
class TileLimit:
    """The largest size of one tile. beside: parameter -> its value where this limit was measured.

    wide: the limit where `data` has elements of four bytes, None for the same.
    """

    parameter: str
    limit: int
    wide: int | None = None
    data: str | None = None
    beside: Mapping[str, int] = field(default_factory=dict[str, int])


@dataclass(frozen=True, slots=True)
class KernelChoice:
    """off: rules that this kernel goes without. options: launch options of the target's compiler.

    source: where the choice comes from, for the report.
    """

    tiles: tuple[TileLimit, ...] = ()
    off: frozenset[str] = frozenset()
    source: str = ""
    options: tuple[tuple[str, bool | int | str], ...] = ()

    def tile(self, parameter: str) -> TileLimit | None:
        return next((tile for tile in self.tiles if tile.parameter == parameter), None)


Choices = Mapping[str, KernelChoice]
"""By kernel (`module:function`)."""


def without(choices: Choices, slug: str) -> frozenset[str]:
    """Kernels that a rule passes over."""
    return frozenset(kernel for kernel, choice in choices.items() if slug in choice.off)
