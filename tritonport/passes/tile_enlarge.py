"""tile-enlarge: tile sizes that the host chooses by the GPU become those that were measured (or estimated) to fit."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

import libcst as cst

from tritonport.engine.choices import KernelChoice, TileLimit
from tritonport.engine.context import FileContext, JitNode
from tritonport.engine.rule import RuleResult
from tritonport.facts.algebra import KernelFacts
from tritonport.facts.algebra.facts import argument
from tritonport.facts.algebra.values import shape_of
from tritonport.facts.tiles import TileParameter, Tiles, tiles_of
from tritonport.facts.walk import code_of
from tritonport.passes._build import import_from_runtime, quote, runtime_name
from tritonport.passes._host_cap import capped
from tritonport.passes._host_tile import Host, HostTile, TileStopped
from tritonport.passes._tile_estimate import UNKNOWN, estimated_bits, estimated_tiles
from tritonport.passes._tile_proof import unproved, upstream_facts
from tritonport.passes._tuner_tiles import WITHOUT, Tuner, chosen_above, jit_decorator
from tritonport.passes.kernels import kernels
from tritonport.record import RuleClass

TILE = "tile"
_REDUCTIONS = (
    "sum",
    "max",
    "min",
    "argmax",
    "argmin",
    "reduce",
    "xor_sum",
    "cumsum",
    "cumprod",
    "associative_scan",
)


def changeable(file: FileContext, key: str, *, any_tile: bool = False) -> dict[TileParameter, int | None]:
    """The tiles of a kernel that this file defines and that may get other sizes, whatever was chosen so far.

    With the limit that the host has for a tile that it computes from the size of the axis. any_tile: those as well
    whose size is not proved to be no part of the result.
    """
    kernel = _Kernel(file, key, None, RuleResult(), set())
    kernel.choice = None
    places = [place for tile in kernel.tiles.parameters if (place := kernel.place(tile)) is not None]
    return {place.tile: place.most for place in (places if any_tile else kernel.proved(places))}


@dataclass(frozen=True)
class _Place:
    """One tile of one kernel: where it is chosen. host: per launch, empty where a tuner chooses."""

    tile: TileParameter
    host: tuple[tuple[Host, HostTile], ...]
    numbers: frozenset[int]

    @property
    def most(self) -> int | None:
        """The host's own limit, where the size of the axis decides below it."""
        limits = [found.most for _, found in self.host]
        return max((limit for limit in limits if limit is not None), default=None)


class TileEnlarge:
    """Each launch, tuner and host expression that chooses a tile chooses it with `tile(size, limit)`."""

    slug = "tile-enlarge"
    rule_class: RuleClass = "reordered"

    def run(self, file: FileContext) -> RuleResult:
        result = RuleResult()
        facts = {kernel.key: kernel.facts for kernel in kernels(file)}
        used: set[str] = set()
        for key in self._concerned(file):
            _Kernel(file, key, facts.get(key), result, used).run()
        import_from_runtime(file, result, used)
        return result

    def _concerned(self, file: FileContext) -> list[str]:
        """Kernels that this file defines or launches, in a fixed order."""
        launched = {key for site in file.sites if not site.wrapped for key in site.kernels}
        defined = {plan.key for plan, _ in file.planned()}
        return [key for key in file.programs.plans if key in launched | defined and key not in file.hidden]


class _Kernel:
    """The rule at work on one kernel in one file."""

    def __init__(
        self, file: FileContext, key: str, facts: KernelFacts | None, result: RuleResult, used: set[str]
    ) -> None:
        self.file, self.key, self.facts, self.result, self.used = file, key, facts, result, used
        self.function = file.analysis.functions[key]
        self.jit: JitNode | None = file.jit(key)
        self.tiles: Tiles = tiles_of(file.analysis.index, self.function)
        self.tuner = Tuner(file, self.jit) if self.jit is not None else None
        self.choice: KernelChoice | None = file.settings.choices.get(key)

    def run(self) -> None:
        places = [place for tile in self.tiles.parameters if (place := self.place(tile)) is not None]
        limits = self._limits(places)
        edited = [p for p in places if p.tile.name in limits]
        for place in edited:
            for host, found in place.host:
                self._host_edit(place.tile, limits[place.tile.name], host, found)
        tuned = [p.tile for p in edited if not p.host and self.jit is not None]
        if tuned:
            self._tuner_edit(tuned, limits)

    def _stop(self, why: str, place: cst.CSTNode | None = None) -> None:
        """A wish that cannot be met is unresolved; where nothing was wished for, the kernel only stays as it is."""
        node = place or (self.jit.node.name if self.jit is not None else self.file.tree)
        wished = self.choice is not None and bool(self.choice.tiles)
        say = self.result.unresolved if wished else self.result.not_applicable
        say(node, why, kernel=self.key)

    def place(self, tile: TileParameter) -> _Place | None:
        if self.choice is not None and self.choice.tile(tile.name) is None:
            return None
        host: list[tuple[Host, HostTile]] = []
        numbers: set[int] = set()
        for site in self.file.sites:
            if self.key not in site.kernels:
                continue
            at = Host(self.file, site)
            try:
                found = self._choice(tile, at)
                self._check_shared(tile, at, found)
            except TileStopped as why:
                self._stop(f"`{tile.name}`: {why}", at.call)
                return None
            if found is not None:
                host.append((at, found))
                numbers |= found.numbers
        return self._checked(_Place(tile, tuple(host), frozenset(numbers)))

    def _choice(self, tile: TileParameter, at: Host) -> HostTile | None:
        """How the host chooses a tile. Raises TileStopped where it may not choose another."""
        passed = at.passed(self.function.parameters)
        if tile.name in passed and (found := capped(at, tile, passed)) is not None:
            return found
        found = at.choice(tile, self.function.parameters)
        if found is not None and tile.bounds:
            raise TileStopped("the kernel asks whether a position lies in its tile")
        return found

    def _check_shared(self, tile: TileParameter, at: Host, found: HostTile | None) -> None:
        """A name that other kernels are launched with is theirs too."""
        if found is None:
            return
        passed = at.passed(self.function.parameters)[tile.name]
        for other, parameter in at.others(code_of(passed)):
            theirs = self.file.settings.choices.get(other)
            limit = theirs.tile(parameter) if theirs is not None else None
            mine = self.choice.tile(tile.name) if self.choice is not None else None
            if limit is None or mine is None or limit.limit != mine.limit:
                raise TileStopped(f"`{code_of(passed)}` is also passed to `{other.partition(':')[2]}`")

    def _checked(self, place: _Place) -> _Place | None:
        """Whether the kernel may have another tile there: host code alone knows what a tile stands for."""
        name = place.tile.name
        if place.host:
            if self.tiles.scans:
                self._stop(f"`{name}`: the kernel scans a tile, so its length may be part of the result")
                return None
            return place
        keys = self.tuner.keys if self.tuner is not None else {}
        if self.tuner is None or name not in keys or name in self.tuner.chosen():
            return None
        if place.tile.bounds:
            self._stop(f"`{name}`: the kernel asks whether a position lies in its tile")
            return None
        if place.tile.per_tile:
            self._stop(f"`{name}`: `{place.tile.per_tile[0]}` is addressed by the number of the tile")
            return None
        return _Place(place.tile, (), frozenset(keys[name]))

    def proved(self, places: list[_Place]) -> list[_Place]:
        """Those whose size is no part of the result, whatever it is."""
        facts = upstream_facts(self.file, self.key) if places else None
        found: list[_Place] = []
        for place in places if facts is not None else ():
            hosts = [host for host, _ in place.host]
            why = unproved(self.file, self.key, facts, place.tile.name, hosts) if facts is not None else ""
            if why is None:
                found.append(place)
            else:
                self._stop(f"`{place.tile.name}`: its size may be part of the result: {why}")
        return found

    def _limits(self, places: list[_Place]) -> dict[str, TileLimit]:
        if self.choice is not None:
            if self.jit is not None and self.choice.tiles:
                shown = ", ".join(f"{tile.parameter}={tile.limit}" for tile in self.choice.tiles)
                self.result.note(self.key, f"tiles {shown}: {self.choice.source}")
            return {tile.parameter: tile for tile in self.choice.tiles}
        if self.facts is None or not places:
            return {}
        bits = self.file.settings.unified_buffer
        if not _candidates(self.facts, places, bits):
            return {}
        places = self.proved(places)
        candidates = _candidates(self.facts, places, bits)
        if not candidates:
            return {}
        found = estimated_tiles(self.facts, candidates, bits)
        if found is None or all(len(sizes) == 1 for sizes in candidates.values()):
            self._stop("no tile sizes that upstream's text names are estimated to fit")
            return {}
        sizes, used = found
        shown = ", ".join(f"{name}={size}" for name, size in sizes.items())
        self.result.note(
            self.key,
            f"tiles {shown}: estimated, not measured ({100 * used / bits:.0f} % of the unified buffer)",
        )
        return {
            p.tile.name: TileLimit(
                p.tile.name, sizes[p.tile.name], beside=dict.fromkeys(p.tile.beside, UNKNOWN)
            )
            for p in places
            if len(candidates.get(p.tile.name, ())) > 1
        }

    def _text(self, tile: TileParameter, limit: TileLimit, values: dict[str, str]) -> str:
        """`tile(V, 128 if k.element_size() <= 2 else 64, (K, 128))`."""
        size = str(limit.limit)
        data = values.get(limit.data or "")
        if limit.wide is not None and limit.wide != limit.limit and data is not None:
            size = f"{limit.limit} if {data}.element_size() <= 2 else {limit.wide}"
        elif limit.wide is not None:
            size = str(min(limit.limit, limit.wide))
        beside = [f"({values[name]}, {at})" for name, at in limit.beside.items() if name in values]
        self.used.add(TILE)
        return f"{runtime_name(self.file, TILE)}({', '.join([values[tile.size], size, *beside])})"

    def _host_edit(self, tile: TileParameter, limit: TileLimit, host: Host, found: HostTile) -> None:
        passed = host.passed(self.function.parameters)
        needed = {
            name: passed[name] for name in (tile.size, limit.data or "", *limit.beside) if name in passed
        }
        for name, at in limit.beside.items():
            value = needed.get(name)
            if isinstance(value, cst.Integer) and value.evaluated_value <= at:
                del needed[name]
        for number, expr in enumerate(found.values):
            here = {name: host.spelled(value, expr) for name, value in needed.items()}
            values = {name: code_of(value) for name, value in here.items()}
            unknown = [name for name, value in here.items() if not _known(host, value, expr)]
            if unknown:
                self._stop(f"`{values[unknown[0]]}` is not known where `{tile.name}` is chosen", expr)
                return
            text = self._text(tile, limit, values)
            if code_of(expr) != text:
                self.result.rewrite(
                    expr,
                    lambda _, text=text: cst.parse_expression(text),
                    kernel=self.key,
                    counts=number == 0,
                    rule_class=self._class(tile),
                )

    def _tuner_edit(self, tiles: list[TileParameter], limits: dict[str, TileLimit]) -> None:
        assert self.jit is not None
        assert self.tuner is not None
        decorator = self.tuner.decorator()
        if decorator is None:
            self._stop("the tuner's list of configurations is not an argument of its decorator")
            return
        names, mark = [tile.name for tile in tiles], quote(self.file)
        texts: dict[str, str] = {}
        for tile in tiles:
            limit = limits[tile.name]
            values = {name: f"args[{mark}{name}{mark}]" for name in self.function.parameters}
            texts[tile.name] = self._text(tile, limit, values)
        self.used.add(WITHOUT)
        tuner, file = self.tuner, self.file
        self.result.rewrite(decorator, lambda node: tuner.without(node, names), kernel=self.key, counts=False)
        classes = {self._class(tile) for tile in tiles}
        self.result.rewrite(
            jit_decorator(file, self.jit.node),
            lambda node: chosen_above(file, node, texts),
            kernel=self.key,
            rule_class="reordered" if "reordered" in classes else "exact",
        )

    def _class(self, tile: TileParameter) -> RuleClass:
        """Exact where no sum, product or scan runs along the tile, and no matrix product sees it."""
        if self.facts is None or self.facts.calls_of("dot", "dot_scaled"):
            return "reordered"
        along = any(_runs_along(self.facts, call, tile.name) for call in self.facts.calls_of(*_REDUCTIONS))
        return "reordered" if along else "exact"


def _runs_along(facts: KernelFacts, node: cst.Call, name: str) -> bool:
    operand, axis = argument(node, 0, "input"), argument(node, 1, "axis")
    shape = shape_of(facts.value(operand)) if operand is not None else None
    if shape is None:
        return True
    if isinstance(axis, cst.Integer) and axis.evaluated_value < len(shape):
        shape = (shape[axis.evaluated_value],)
    return any(symbol.label == name for extent in shape for symbol in extent.symbols)


def _known(host: Host, value: cst.BaseExpression, place: cst.BaseExpression) -> bool:
    try:
        host.check_known(value, place)
    except TileStopped:
        return False
    return True


def _candidates(facts: KernelFacts, places: list[_Place], bits: int) -> dict[str, frozenset[int]]:
    """The sizes that a tile may be estimated at: those that upstream's text names.

    Smaller ones for a tile that the size of its axis decides, where the largest alone takes more than the whole buffer.
    """
    found = {p.tile.name: _powers(p.numbers) for p in places if p.most is None}
    largest = {p.tile.name: p.most for p in places if p.most is not None}
    if estimated_bits(facts, largest) > bits:
        found |= {name: frozenset(_halves(most)) for name, most in largest.items()}
    return found


def _halves(most: int) -> Iterator[int]:
    """Powers of two below a size, down to 64."""
    size = 1 << (most.bit_length() - 1)
    while (size := size >> 1) >= 64:
        yield size


def _powers(numbers: frozenset[int]) -> frozenset[int]:
    """The numbers that can be tiles: powers of two from 8 to 1024."""
    return frozenset(n for n in numbers if 8 <= n <= 1024 and not n & (n - 1))


RULE = TileEnlarge()
