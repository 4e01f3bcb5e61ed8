"""Tuning files: which tiles and rules single kernels get, and the figures that justify them (docs/tuning.md).

schema = "tritonport.tuning/1"

[[kernel]]
name = "pkg.rows:double_rows"             # for readers; kernels are found by their structure
structure = ["sha256:..."]                # tritonport.facts.structure, of every version with this choice
target = "a2"
toolchain = "1.2.0"                       # ascendnpu-ir
off = ["gate-layout"]                     # rules that the kernel goes without
options = { multibuffer = false }         # launch options of the target's compiler
tiles = [{ place = 9, parameter = "BV", limit = 128, wide = 64, data = 0, beside = [[6, 128]] }]
figures = { "dense-128" = "84.2 % UB, scalar 1, discrete 0, tiled" }

place, data and beside name parameters by their place in the signature, since names may be others in a renamed copy.
wide is the limit where the parameter at `data` has elements of four bytes; beside: places and the values that the
limit was measured with.
"""

from __future__ import annotations

import itertools
import json
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from packaging.version import InvalidVersion, Version

from tritonport.discover import Analysis
from tritonport.engine.choices import KernelChoice, TileLimit
from tritonport.errors import UserError
from tritonport.facts.structure import Structures
from tritonport.resources import data_files
from tritonport.toml import read_toml

SCHEMA = "tritonport.tuning/1"
FOLDER = "tuning"


@dataclass(frozen=True, slots=True)
class TileEntry:
    """One tile of one entry; see the module's text."""

    place: int
    parameter: str
    limit: int
    wide: int | None = None
    data: int | None = None
    beside: tuple[tuple[int, int], ...] = ()


@dataclass(frozen=True, slots=True)
class TuningEntry:
    """One `[[kernel]]`. file: where it was read, as it is shown."""

    name: str
    structure: tuple[str, ...]
    target: str
    toolchain: str
    tiles: tuple[TileEntry, ...] = ()
    off: tuple[str, ...] = ()
    options: Mapping[str, bool | int | str] = field(default_factory=dict[str, "bool | int | str"])
    figures: Mapping[str, str] = field(default_factory=dict[str, str])
    file: str = ""


def load_tuning(path: Path, shown: str | None = None) -> tuple[TuningEntry, ...]:
    """The entries of one file. Raises UserError, naming the file, for what is missing or of the wrong kind."""
    data = read_toml(path)
    if data.get("schema") != SCHEMA:
        raise UserError("not a tuning file", f'it must say schema = "{SCHEMA}"', str(path))
    return tuple(_entry(item, path, shown or str(path)) for item in data.get("kernel", []))


def _entry(item: Mapping[str, Any], path: Path, shown: str) -> TuningEntry:
    try:
        Version(item["toolchain"])
        return TuningEntry(
            name=str(item["name"]),
            structure=tuple(item["structure"]),
            target=str(item["target"]),
            toolchain=str(item["toolchain"]),
            tiles=tuple(_tile(tile) for tile in item.get("tiles", [])),
            off=tuple(item.get("off", [])),
            options=dict(item.get("options", {})),
            figures=dict(item.get("figures", {})),
            file=shown,
        )
    except (KeyError, TypeError, ValueError, InvalidVersion) as error:
        name = item.get("name", "an entry")
        raise UserError(
            f"{name}: not a tuning entry: {error!r}", "docs/tuning.md has the form", str(path)
        ) from error


def _tile(item: Mapping[str, Any]) -> TileEntry:
    sizes = [item["limit"], *([item["wide"]] if "wide" in item else [])]
    if any(type(size) is not int or size < 1 or size & (size - 1) for size in sizes):
        raise ValueError(f"a limit that is no power of two: {sizes}")
    beside = tuple((int(place), int(value)) for place, value in item.get("beside", []))
    return TileEntry(
        int(item["place"]), str(item["parameter"]), item["limit"], item.get("wide"), item.get("data"), beside
    )


def shipped_tuning() -> tuple[TuningEntry, ...]:
    """What comes with the tool, and what the user's data folders have: tuning/*.toml."""
    return tuple(
        entry for file in data_files(FOLDER) for entry in load_tuning(file, f"rules/{FOLDER}/{file.name}")
    )


def covered(entries: Iterable[TuningEntry], target: str, toolchain: str) -> frozenset[str]:
    """The structures that have an entry for this target and ascendnpu-ir version."""
    return frozenset(
        digest for e in entries if (e.target, e.toolchain) == (target, toolchain) for digest in e.structure
    )


def choices_for(
    analysis: Analysis, target: str, own: Sequence[TuningEntry] = (), toolchain: str | None = None
) -> dict[str, KernelChoice]:
    """The choice of every kernel of these sources that an entry fits; the user's own entries come first.

    toolchain: only entries for this ascendnpu-ir version; None takes the newest that has an entry for a kernel.
    """
    structures = Structures(analysis)
    found: dict[str, KernelChoice] = {}
    for entries in (shipped_tuning(), own):
        table = _by_structure(entries, target, toolchain)
        for kernel in analysis.discovery.kernels:
            if kernel.name in analysis.functions and (entry := table.get(structures.of(kernel.name))):
                found[kernel.name] = _choice(entry, analysis.functions[kernel.name].parameters)
    return found


def _by_structure(
    entries: Iterable[TuningEntry], target: str, toolchain: str | None
) -> dict[str, TuningEntry]:
    table: dict[str, TuningEntry] = {}
    for entry in entries:
        if entry.target != target or toolchain not in (None, entry.toolchain):
            continue
        for digest in entry.structure:
            known = table.get(digest)
            if known is None or Version(known.toolchain) <= Version(entry.toolchain):
                table[digest] = entry
    return table


def _choice(entry: TuningEntry, parameters: Sequence[str]) -> KernelChoice:
    tiles = tuple(
        TileLimit(
            parameters[tile.place],
            tile.limit,
            tile.wide,
            None if tile.data is None else parameters[tile.data],
            {parameters[place]: value for place, value in tile.beside},
        )
        for tile in entry.tiles
    )
    source = f"{entry.file}, measured with ascendnpu-ir {entry.toolchain} for {entry.target}"
    return KernelChoice(tiles, frozenset(entry.off), source, tuple(sorted(entry.options.items())))


def tuning_text(entries: Iterable[TuningEntry], comment: str = "") -> str:
    """A tuning file: entries by name, kernels that differ in nothing but their structure in one entry."""
    lines = [f"# {line}".rstrip() for line in comment.splitlines()] + [f'schema = "{SCHEMA}"']
    for entry in merged(entries):
        lines += ["", "[[kernel]]", f"name = {_text(entry.name)}", "structure = ["]
        lines += [f"    {_text(digest)}," for digest in entry.structure]
        lines += ["]", f"target = {_text(entry.target)}", f"toolchain = {_text(entry.toolchain)}"]
        shown = ", ".join(f"{name} = {json.dumps(value)}" for name, value in sorted(entry.options.items()))
        lines += [f"options = {{ {shown} }}"] if shown else []
        lines += [f"off = [{', '.join(map(_text, entry.off))}]"] if entry.off else []
        lines += (
            ["tiles = [", *(f"    {_tile_text(tile)}," for tile in entry.tiles), "]"] if entry.tiles else []
        )
        if entry.figures:
            lines += ["", "[kernel.figures]", *(f"{_text(k)} = {_text(v)}" for k, v in entry.figures.items())]
    return "\n".join(lines) + "\n"


def comment_of(path: Path) -> str:
    """The comment at the head of a tuning file, empty where there is no file."""
    lines = path.read_text(encoding="utf-8").splitlines() if path.exists() else []
    return "\n".join(line.lstrip("# ") for line in itertools.takewhile(lambda n: n.startswith("#"), lines))


def merged(entries: Iterable[TuningEntry]) -> list[TuningEntry]:
    """Entries in order; of those for one structure, target and toolchain the last one counts."""
    latest: dict[tuple[str, str, str], TuningEntry] = {}
    for entry in entries:
        for digest in entry.structure:
            latest[digest, entry.target, entry.toolchain] = entry
    kept = {id(entry): entry for entry in latest.values()}
    return sorted(kept.values(), key=lambda e: (e.name, e.target, Version(e.toolchain), e.structure))


def _tile_text(tile: TileEntry) -> str:
    parts = [f"place = {tile.place}", f"parameter = {_text(tile.parameter)}", f"limit = {tile.limit}"]
    parts += [f"wide = {tile.wide}"] if tile.wide is not None else []
    parts += [f"data = {tile.data}"] if tile.data is not None else []
    parts += [f"beside = {json.dumps([list(pair) for pair in tile.beside])}"] if tile.beside else []
    return f"{{ {', '.join(parts)} }}"


def _text(value: str) -> str:
    return json.dumps(value, ensure_ascii=False)
