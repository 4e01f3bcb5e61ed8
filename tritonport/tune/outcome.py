"""What a search found, as entries of a tuning file and as lines for the user."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence

from tritonport.facts.structure import Structures
from tritonport.npu.measure import Measurement
from tritonport.tune.search import Winner
from tritonport.tune.variants import Compiler, Workshop
from tritonport.tuning import TileEntry, TuningEntry


def entries(
    workshop: Workshop, winners: Mapping[str, Winner], before: Mapping[str, str], compiler: Compiler
) -> list[TuningEntry]:
    """One entry per kernel for which something was chosen. before: the originals' figures by kernel."""
    structures = Structures(workshop.analysis)
    made: list[TuningEntry] = []
    for key, winner in sorted(winners.items()):
        if winner.tiles or winner.off or winner.options:
            parameters = workshop.analysis.functions[key].parameters
            made.append(
                TuningEntry(
                    name=key,
                    structure=(structures.of(key),),
                    target=compiler.target,
                    toolchain=compiler.version,
                    tiles=tuple(_tiles(winner, parameters)),
                    off=tuple(sorted(winner.off)),
                    options=dict(winner.options),
                    figures=figures(winner, before.get(key)),
                )
            )
    return made


def _tiles(winner: Winner, parameters: Sequence[str]) -> Iterator[TileEntry]:
    for tile in winner.space.tiles:
        limit = winner.tiles[tile.name]
        wide = winner.wide[tile.name] if winner.wide is not None else None
        apart = wide is not None and wide != limit and winner.data is not None
        yield TileEntry(
            place=tile.index,
            parameter=tile.name,
            limit=limit,
            wide=wide if apart else None,
            data=parameters.index(winner.data) if apart and winner.data is not None else None,
            beside=tuple(
                (parameters.index(name), winner.beside[name]) for name in tile.beside if name in winner.beside
            ),
        )


def figures(winner: Winner, before: str | None) -> dict[str, str]:
    """The original's figures, and those of the choice by case."""
    found = {"original": before} if before is not None else {}
    return {**found, **{case: figures_text(every) for case, every in winner.measured.items()}}


def figures_text(every: Sequence[Measurement]) -> str:
    """`84.2 % UB, scalar 1, discrete 0, tiled`: the worst of each over some specialisations."""
    if not every:
        return "not launched"
    shown = [m.percent("UB") for m in every]
    used = max((value for value in shown if value is not None), default=None)
    text = "UB unknown" if used is None else f"{used:.1f} % UB"
    if any(m.fits is not True for m in every):
        said = next((m.error for m in every if m.fits is not True and m.error), "")
        return f"{text} does not fit" if any(m.fits is False for m in every) else f"does not compile: {said}"
    splits = [m.sub_block for m in every]
    split = next((kind for kind in ("guarded", "tiled", "none") if kind in splits), "split unknown")
    return f"{text}, scalar {_sum(every, 'scalar_iterations')}, discrete {_sum(every, 'discrete_elements')}, {split}"


def _sum(every: Sequence[Measurement], name: str) -> str:
    values: list[int | None] = [getattr(m, name) for m in every]
    known = [value for value in values if value is not None]
    return str(max(known)) if len(known) == len(values) else "unknown"


def table(winners: Mapping[str, Winner], before: Mapping[str, str]) -> list[tuple[str, str, str, str, str]]:
    """Rows for the user: kernel, tiles, rules left out, the original's figures, the choice's in its first case."""
    rows: list[tuple[str, str, str, str, str]] = []
    for key, winner in sorted(winners.items()):
        tiles = ", ".join(_shown(winner, name) for name in winner.tiles)
        first = next(iter(winner.measured.values()), ())
        rows.append(
            (
                key.partition(":")[2],
                tiles or "-",
                ", ".join([*sorted(winner.off), *(f"{name}={value}" for name, value in winner.options)])
                or "-",
                before.get(key, "-"),
                figures_text(first),
            )
        )
    return rows


def _shown(winner: Winner, name: str) -> str:
    size = winner.tiles[name]
    wide = winner.wide[name] if winner.wide is not None else size
    return f"{name}={size}" if wide == size else f"{name}={size} ({wide} for 4-byte elements)"
