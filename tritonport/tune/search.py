"""Searches tiles and left-out rules of every kernel at once: one migrated tree per round holds one variant of each.

Round by round each kernel proposes a set of left-out rules (none first, then neighbours of its best set); within a
round its tile sets are tried from the largest down until one has nothing left to gain. What wins in the first case
that launches a kernel must then hold in all of them; elements of four bytes get a limit of their own.
"""

from __future__ import annotations

import tempfile
from collections.abc import Callable, Collection, Iterable, Iterator, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, field
from pathlib import Path

from tritonport.engine.rule import Rule
from tritonport.facts.structure import Structures
from tritonport.npu.capture import Captured, Variants
from tritonport.npu.measure import Measurement
from tritonport.tune.objective import Options, Score, Tiles, option_sets, rule_sets, score
from tritonport.tune.space import Space, spaces, tile_rules
from tritonport.tune.variants import Compiler, Workshop

Progress = Callable[[str, int, int], None]


@dataclass(frozen=True, slots=True)
class Budget:
    """rounds: migrated trees at most. tiles: sets per kernel and round, once one fits. jobs: compilers at one time."""

    rounds: int = 4
    tiles: int = 6
    jobs: int = 1


@dataclass(frozen=True, slots=True)
class Candidate:
    """One variant of one kernel with its score in the cases that were looked at."""

    off: frozenset[str]
    tiles: Mapping[str, int]
    options: Options
    score: Score


@dataclass
class Winner:
    """What was found for one kernel. tiles: for elements of two bytes; wide: for four, None where no case has them.

    data: the parameter whose elements differ between the two. beside: values that the tiles were measured with.
    measured: by case. tried: how many variants were compiled.
    """

    space: Space
    off: frozenset[str]
    tiles: Mapping[str, int]
    options: Options = ()
    wide: Mapping[str, int] | None = None
    data: str | None = None
    beside: dict[str, int] = field(default_factory=dict[str, int])
    measured: dict[str, tuple[Measurement, ...]] = field(default_factory=dict[str, tuple[Measurement, ...]])
    tried: int = 0


@dataclass
class _State:
    """One kernel on its way."""

    space: Space
    case: str
    best: Candidate | None = None
    pending: list[frozenset[str]] = field(default_factory=lambda: [frozenset[str]()])
    seen: set[frozenset[str]] = field(default_factory=set[frozenset[str]])
    tried: int = 0

    def next(self) -> frozenset[str] | None:
        while self.pending:
            proposal = self.pending.pop(0)
            if proposal not in self.seen:
                self.seen.add(proposal)
                return proposal
        return None

    def take(self, candidate: Candidate) -> None:
        if self.best is None or candidate.score < self.best.score:
            self.best = candidate
            ideal = candidate.score.ideal and candidate.score.lanes == self.most
            self.pending = [] if ideal else list(rule_sets(self.space.rules, candidate.off))

    @property
    def most(self) -> int:
        """The score's figure for the largest tile set."""
        return min((score([], tiles, 0).lanes for tiles in self.space.sets), default=-1)


class Search:
    """One search over one source tree for one compiler."""

    def __init__(
        self,
        workshop: Workshop,
        rules: Sequence[Rule],
        compiler: Compiler,
        budget: Budget,
        progress: Progress,
    ) -> None:
        self.workshop, self.rules, self.compiler = workshop, rules, compiler
        self.budget, self.progress = budget, progress
        self.slugs = tile_rules(rules)
        self.originals = compiler.capture(workshop.tree, None)

    def run(self, pattern: str, known: Collection[str] = ()) -> dict[str, Winner]:
        """The best variant of every kernel that matches and that some case launches.

        known: structures (facts/structure) that are not searched. Of kernels that share one, the first is searched.
        """
        found = spaces(self.workshop, pattern, self.slugs, self.workshop.results(self.rules, {}))
        first = first_cases(self.originals)
        wanted = _one_of_each(Structures(self.workshop.analysis), found, known)
        states = {key: _State(found[key], first[key]) for key in wanted if key in first}
        for number in range(self.budget.rounds):
            proposals = {key: off for key, state in states.items() if (off := state.next()) is not None}
            if not proposals:
                break
            self.progress("variants", number, self.budget.rounds)
            self._round(states, proposals)
        return self._confirmed(states)

    def _round(self, states: Mapping[str, _State], proposals: Mapping[str, frozenset[str]]) -> None:
        wanted = {key: states[key].space.sets for key in proposals}
        cases = list(dict.fromkeys(states[key].case for key in proposals))
        captured = self._captured(dict(proposals), cases, _variants(states, wanted))
        with ThreadPoolExecutor(self.budget.jobs) as pool:
            runs = {
                key: pool.submit(self._best, captured, states[key], off) for key, off in proposals.items()
            }
            for done, (key, run) in enumerate(runs.items(), 1):
                candidate, number = run.result()
                states[key].tried += number
                states[key].take(candidate)
                self.progress(key.partition(":")[2], done, len(runs))

    def _captured(
        self, off: Mapping[str, frozenset[str]], cases: Sequence[str] | None, variants: Variants
    ) -> Captured:
        with tempfile.TemporaryDirectory(prefix="tritonport-tune-") as folder:
            out = Path(folder) / "out"
            self.workshop.write(out, self.rules, off)
            return self.compiler.capture(self.workshop.tree, out, cases, variants)

    def _best(self, captured: Captured, state: _State, off: frozenset[str]) -> tuple[Candidate, int]:
        """The best tile set of one kernel with these rules, in its first case."""
        best: Candidate | None = None
        number = 0
        for number, tiles in enumerate(state.space.sets, 1):
            units = tried(captured, state.space.kernel, number - 1, [state.case])
            for options in option_sets(cube=state.space.cube):
                measured = [self.compiler.measure(captured, unit, options) for unit in units]
                found = score(measured, tiles, len(off))
                if best is None or found < best.score:
                    best = Candidate(off, tiles, options, found)
            assert best is not None, "there is one set of options at least, the empty one"
            if best.score.ideal or (number >= self.budget.tiles and not best.score.unfit):
                break
        assert best is not None, "a kernel has one tile set at least, the empty one"
        return best, number

    def _confirmed(self, states: Mapping[str, _State]) -> dict[str, Winner]:
        """Each winner in all cases, with smaller tiles where it does not hold."""
        best = {key: state.best for key, state in states.items() if state.best is not None}
        wanted = {key: _from(states[key].space.sets, found.tiles) for key, found in best.items()}
        off = {key: found.off for key, found in best.items()}
        captured = self._captured(off, None, _variants(states, wanted))
        winners: dict[str, Winner] = {}
        with ThreadPoolExecutor(self.budget.jobs) as pool:
            runs = {
                key: pool.submit(self._confirm, captured, states[key], found, wanted[key])
                for key, found in best.items()
            }
            for done, (key, run) in enumerate(runs.items(), 1):
                winners[key] = run.result()
                self.progress(key.partition(":")[2], done, len(runs))
        return winners

    def _confirm(self, captured: Captured, state: _State, best: Candidate, sets: Sequence[Tiles]) -> Winner:
        """The winner with the launch options that hold in every case.

        A kernel is launched in several ways (with a gate and without, say), and the compiler may refuse in one of
        them what is best in the first. The other options are tried where the winner's cost tiles or do not hold.
        """
        kernel = state.space.kernel
        narrow, wide, data = _widths(captured, kernel, state.case)
        others = [options for options in option_sets(cube=state.space.cube) if options != best.options]
        found: tuple[Score, Winner] | None = None
        number = state.tried
        for options in (best.options, *others):
            tiles, measured, more = self._holding(captured, kernel, sets, narrow, options)
            winner = Winner(state.space, best.off, tiles, options, measured=measured)
            number += more
            if wide:
                winner.wide, again, more = self._holding(captured, kernel, sets, wide, options)
                winner.data, number = data, number + more
                winner.measured.update(again)
            reached = score([m for every in winner.measured.values() for m in every], tiles, len(best.off))
            if found is None or reached < found[0]:
                found = (reached, winner)
            if not reached.unfit and dict(tiles) == dict(best.tiles):
                break
        assert found is not None, "the winner's own options are tried at least"
        winner = found[1]
        winner.tried, winner.beside = number, _beside(captured, state.space)
        return winner

    def _holding(
        self,
        captured: Captured,
        kernel: str,
        sets: Sequence[Tiles],
        cases: Sequence[str],
        options: Options,
    ) -> tuple[Tiles, dict[str, tuple[Measurement, ...]], int]:
        """The largest tile set that holds in all of these cases; where none does, the one with the best score."""
        best: tuple[Score, Tiles, dict[str, tuple[Measurement, ...]]] | None = None
        number = 0
        for number, tiles in enumerate(sets, 1):
            measured = {
                case: tuple(
                    self.compiler.measure(captured, unit, options)
                    for unit in tried(captured, kernel, number - 1, [case])
                )
                for case in cases
            }
            found = score([m for every in measured.values() for m in every], tiles, 0)
            if best is None or found < best[0]:
                best = (found, tiles, measured)
            if best[0].ideal or (number >= self.budget.tiles and not best[0].unfit):
                break
        assert best is not None, "a kernel has one tile set at least, the empty one"
        return best[1], best[2], number


def _one_of_each(structures: Structures, kernels: Iterable[str], known: Collection[str]) -> list[str]:
    """Kernels of structures that are not known, each structure once."""
    by_structure: dict[str, str] = {}
    for key in kernels:
        by_structure.setdefault(structures.of(key), key)
    return [key for structure, key in by_structure.items() if structure not in known]


def _from(sets: Sequence[dict[str, int]], tiles: Tiles) -> list[dict[str, int]]:
    """The tile sets from one on."""
    return list(sets[next((i for i, found in enumerate(sets) if found == dict(tiles)), 0) :])


def _variants(states: Mapping[str, _State], wanted: Mapping[str, Sequence[Tiles]]) -> Variants:
    """The tile sets as the capture takes them."""
    made: dict[str, list[dict[str, tuple[str, int]]]] = {}
    for key, sets in wanted.items():
        sizes = {tile.name: tile.size for tile in states[key].space.tiles}
        made[key] = [{name: (sizes[name], limit) for name, limit in tiles.items()} for tiles in sets]
    return made


def tried(captured: Captured, kernel: str, variant: int, cases: Sequence[str]) -> list[str]:
    """Specialisations of one kernel with one tile set in some cases."""
    found: dict[str, None] = {}
    for case in captured.cases:
        if case.name in cases:
            found.update({t.unit: None for t in case.tried if (t.kernel, t.variant) == (kernel, variant)})
    return list(found)


def first_cases(captured: Captured) -> dict[str, str]:
    """By kernel, the first case that launches it."""
    first: dict[str, str] = {}
    for case in captured.cases:
        for launch in case.launches:
            first.setdefault(launch.kernel, case.name)
    return first


def launched(captured: Captured, kernel: str, case: str) -> list[str]:
    """Specialisations that one case launches a kernel with, as the host chose them."""
    return list(dict.fromkeys(unit for name, unit in _launched(captured, kernel) if name == case))


def _launched(captured: Captured, kernel: str) -> Iterator[tuple[str, str]]:
    """(case, unit) of the launches of a kernel that can be compiled."""
    for case in captured.cases:
        for launch in case.launches:
            if launch.kernel == kernel and launch.unit in captured.units:
                yield case.name, launch.unit


def _widths(captured: Captured, kernel: str, first: str) -> tuple[list[str], list[str], str | None]:
    """Cases by the width of their data: as the first case has it, or four bytes where that has two."""
    units = list(_launched(captured, kernel))
    cases = list(dict.fromkeys(case for case, _ in units)) or [first]
    base = next((captured.units[unit].signature for case, unit in units if case == first), {})
    halves = [name for name, kind in base.items() if kind in ("*bf16", "*fp16")]
    for name in halves:
        wide = [c for c, unit in units if captured.units[unit].signature.get(name) == "*fp32"]
        everywhere = all(captured.units[u].signature.get(name, "*i8") != "*i8" for _, u in units)
        if wide and everywhere:
            return [case for case in cases if case not in wide], list(dict.fromkeys(wide)), name
    return cases, [], None


def _beside(captured: Captured, space: Space) -> dict[str, int]:
    """The largest value, over the cases, of what else the kernel's tiles grow with."""
    names = dict.fromkeys(name for tile in space.tiles for name in tile.beside)
    values: dict[str, int] = {}
    for name in names:
        found = [captured.units[unit].constants.get(name) for _, unit in _launched(captured, space.kernel)]
        numbers = [value for value in found if isinstance(value, int)]
        if numbers:
            values[name] = max(numbers)
    return values


def originals_figures(search: Search, kernels: Sequence[str]) -> dict[str, tuple[Measurement, ...]]:
    """The originals in the first case that launches them."""
    found: dict[str, tuple[Measurement, ...]] = {}
    for key in kernels:
        units = launched(search.originals, key, first_cases(search.originals)[key])
        found[key] = tuple(search.compiler.measure(search.originals, unit) for unit in units)
    return found
