"""What may be chosen per kernel: tile sizes, and which of the rules on tiles it goes without."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from fnmatch import fnmatch

import libcst as cst

from tritonport.engine.context import FileContext
from tritonport.engine.pipeline import FileResult
from tritonport.engine.rule import Rule
from tritonport.facts.tiles import TileParameter
from tritonport.migrate import TILE_RULE
from tritonport.passes.tile_enlarge import changeable
from tritonport.profiles import load_profile
from tritonport.tune.objective import tile_sets
from tritonport.tune.variants import Workshop


@dataclass(frozen=True, slots=True)
class Space:
    """The choices of one kernel. rules: those on tiles that rewrote something in it. sets: tile sets, largest first.

    limits: upstream's own, of tiles that the size of their axis decides.
    """

    kernel: str
    cube: bool
    tiles: tuple[TileParameter, ...]
    rules: tuple[str, ...] = ()
    limits: Mapping[str, int] = field(default_factory=dict[str, int])

    @property
    def sets(self) -> list[dict[str, int]]:
        return tile_sets([tile.name for tile in self.tiles], cube=self.cube, limits=self.limits)


def tile_rules(rules: Sequence[Rule]) -> tuple[str, ...]:
    """The rules that a kernel may go without: what the baseline does not have, in the order of the profile."""
    needed = {TILE_RULE, *load_profile("baseline").rules}
    return tuple(rule.slug for rule in rules if rule.slug not in needed)


def spaces(
    workshop: Workshop, pattern: str, slugs: Sequence[str], results: Mapping[str, FileResult]
) -> dict[str, Space]:
    """The spaces of the kernels whose name matches the pattern. results: of a run with all rules."""
    kernels = {kernel.name: kernel for kernel in workshop.analysis.discovery.kernels}
    found: dict[str, Space] = {}
    for key, plan in workshop.programs.plans.items():
        kernel = kernels[key]
        if kernel.apart is None and fnmatch(key.partition(":")[2], pattern):
            fired = {slug for result in results.values() for (name, slug) in result.counts if name == key}
            tiles = _tiles(workshop, key)
            limits = {tile.name: most for tile, most in tiles.items() if most is not None}
            rules = tuple(slug for slug in slugs if slug in fired)
            found[key] = Space(key, plan.cube, tuple(tiles), rules, limits)
    return found


def _tiles(workshop: Workshop, key: str) -> dict[TileParameter, int | None]:
    module = workshop.analysis.index.modules[key.partition(":")[0]]
    tree = cst.parse_module(module.text)
    file = FileContext(module, tree, workshop.analysis, workshop.programs, workshop.settings)
    return changeable(file, key, any_tile=workshop.any_tile)
