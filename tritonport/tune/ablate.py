"""What each rule does for each kernel: alone, and left out of all, through the compiler."""

from __future__ import annotations

import tempfile
from collections.abc import Callable, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from pathlib import Path

from tritonport.engine.choices import Choices
from tritonport.engine.rule import Rule
from tritonport.migrate import TILE_RULE
from tritonport.npu.capture import Captured, Variants
from tritonport.npu.measure import Measurement
from tritonport.tune.search import first_cases, launched, tried
from tritonport.tune.space import Space, spaces, tile_rules
from tritonport.tune.variants import Compiler, Workshop

Progress = Callable[[str, int, int], None]


@dataclass(frozen=True, slots=True)
class Line:
    """One variant of one kernel. label: which rules on tiles it has. tiles: whether its tiles are the chosen ones."""

    label: str
    off: frozenset[str]
    tiles: bool


@dataclass(frozen=True, slots=True)
class Ablation:
    """One kernel: its rules on tiles, its chosen tiles, the case, and the figures by label."""

    kernel: str
    rules: tuple[str, ...]
    tiles: Mapping[str, int]
    case: str
    rows: Mapping[str, tuple[Measurement, ...]]


def lines(rules: Sequence[str], *, tiles: bool) -> list[Line]:
    """The variants of a kernel on which these rules on tiles fired."""
    every = frozenset(rules)
    made = [Line("none", every, tiles=False)]
    made += [Line(f"{slug} alone", every - {slug}, tiles=False) for slug in rules]
    made += [Line(f"{TILE_RULE} alone", every, tiles=True)] if tiles else []
    made += [Line("all", frozenset(), tiles=tiles)]
    made += [Line(f"without {slug}", frozenset({slug}), tiles=tiles) for slug in rules]
    made += [Line(f"without {TILE_RULE}", frozenset(), tiles=False)] if tiles else []
    return made


@dataclass
class Ablate:
    """One ablation over one source tree for one compiler.

    choices: the tiles, as a migration would take them; the launch options chosen with them come and go with them.
    """

    workshop: Workshop
    rules: Sequence[Rule]
    compiler: Compiler
    choices: Choices
    jobs: int
    progress: Progress

    def run(self, pattern: str) -> list[Ablation]:
        """Every kernel that matches and that some case launches."""
        originals = self.compiler.capture(self.workshop.tree, None)
        first = first_cases(originals)
        slugs = tile_rules(self.rules)
        found = spaces(self.workshop, pattern, slugs, self.workshop.results(self.rules, {}))
        kept = {key: space for key, space in found.items() if key in first}
        wanted = {key: lines(space.rules, tiles=bool(self._limits(space))) for key, space in kept.items()}
        rows: dict[str, dict[str, tuple[Measurement, ...]]] = {key: {} for key in kept}
        rounds = _rounds(wanted)
        for number, off in enumerate(rounds, 1):
            self.progress("variants", number, len(rounds))
            self._round(kept, first, wanted, off, rows)
        return [
            Ablation(
                key,
                space.rules,
                self._limits(space),
                first[key],
                {line.label: rows[key][line.label] for line in wanted[key]},
            )
            for key, space in kept.items()
        ]

    def _limits(self, space: Space) -> dict[str, int]:
        choice = self.choices.get(space.kernel)
        limits = {} if choice is None else {tile.parameter: tile.limit for tile in choice.tiles}
        return {tile.name: limits[tile.name] for tile in space.tiles if tile.name in limits}

    def _round(
        self,
        kept: Mapping[str, Space],
        first: Mapping[str, str],
        wanted: Mapping[str, Sequence[Line]],
        off: Mapping[str, frozenset[str]],
        rows: dict[str, dict[str, tuple[Measurement, ...]]],
    ) -> None:
        """Measures what one migrated tree can tell: each kernel with its own left-out rules, either tiles."""
        cases = list(dict.fromkeys(first[key] for key in off))
        captured = self._captured(kept, off, cases)
        with ThreadPoolExecutor(self.jobs) as pool:
            runs = {
                (key, line.label): pool.submit(self._measure, captured, key, line, first[key])
                for key, left_out in off.items()
                for line in wanted[key]
                if line.off == left_out
            }
            for (key, label), run in runs.items():
                rows[key][label] = run.result()

    def _captured(
        self, kept: Mapping[str, Space], off: Mapping[str, frozenset[str]], cases: Sequence[str]
    ) -> Captured:
        variants: Variants = {
            key: [
                {tile.name: (tile.size, limits[tile.name]) for tile in kept[key].tiles if tile.name in limits}
            ]
            for key in off
            if (limits := self._limits(kept[key]))
        }
        with tempfile.TemporaryDirectory(prefix="tritonport-ablate-") as folder:
            out = Path(folder) / "out"
            self.workshop.write(out, self.rules, off)
            return self.compiler.capture(self.workshop.tree, out, cases, variants)

    def _measure(self, captured: Captured, key: str, line: Line, case: str) -> tuple[Measurement, ...]:
        units = tried(captured, key, 0, [case]) if line.tiles else launched(captured, key, case)
        choice = self.choices.get(key)
        options = choice.options if choice is not None and line.tiles else ()
        return tuple(self.compiler.measure(captured, unit, options) for unit in units)


def _rounds(wanted: Mapping[str, Sequence[Line]]) -> list[dict[str, frozenset[str]]]:
    """Migrated trees, each with one set of left-out rules per kernel."""
    sets = {key: list(dict.fromkeys(line.off for line in every)) for key, every in wanted.items()}
    longest = max((len(every) for every in sets.values()), default=0)
    return [{key: every[n] for key, every in sets.items() if n < len(every)} for n in range(longest)]
