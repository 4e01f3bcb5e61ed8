"""Overrides and suppressions outside the source: rules/kernels/*.toml and the user's own files.

[[suppress]]                        # a finding that somebody looked at and accepts
kernel = "pkg.rows:double_rows"
fingerprint = "sha256:..."          # of the kernel when it was looked at; a list holds several releases
rule = "refuse"
text = "tl.atomic_add"              # optional: only findings whose text has this
reason = "the ticket's order does not matter"
expires = 2027-06-30                # optional

[[override]]                        # another treatment of one kernel
kernel = "pkg.rows:double_rows"
fingerprint = "sha256:..."
off = ["index-width"]               # rules that it goes without
tiles = { BV = 32 }                 # the largest size of a tile
reason = "measured: 12 % slower on 910B3"

An entry counts only for the very kernel that it was written for. One that is stale (the kernel changed), expired, or
unused (it suppresses nothing) is a finding itself.
"""

from __future__ import annotations

import os
from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from datetime import date, datetime, timezone
from pathlib import Path
from typing import Any, Literal

from tritonport.engine.choices import Choices, KernelChoice, TileLimit
from tritonport.errors import UserError
from tritonport.record import KernelRecord, Suppressed
from tritonport.resources import data_files
from tritonport.toml import line_of_key, read_toml

Kind = Literal["suppress", "override"]
State = Literal["applied", "stale", "expired", "unused"]
KINDS: tuple[Kind, ...] = ("suppress", "override")


@dataclass(frozen=True, slots=True)
class Entry:
    """One table of a file. rules: the rule of a suppression, the rules that an override switches off.

    file: as it is shown. tiles: parameter -> largest size.
    """

    kind: Kind
    file: str
    kernel: str
    fingerprints: tuple[str, ...]
    reason: str
    rules: tuple[str, ...]
    text: str = ""
    tiles: tuple[tuple[str, int], ...] = ()
    expires: date | None = None

    def says(self) -> str:
        """What the entry asks for, in words that are the same on every machine."""
        wanted = [*self.rules, *(f"{name}<={size}" for name, size in self.tiles)]
        text = f" ({self.text})" if self.text else ""
        return f"{self.kind} {self.kernel}: {', '.join(wanted)}{text}"


@dataclass(frozen=True, slots=True)
class Judged:
    """What became of one entry in a run. why: empty for `applied`."""

    entry: Entry
    state: State
    why: str = ""

    def to_json(self) -> dict[str, Any]:
        """The entry as run.json has it."""
        entry = self.entry
        return {
            "kind": entry.kind,
            "file": entry.file,
            "kernel": entry.kernel,
            "rules": list(entry.rules),
            "tiles": dict(entry.tiles),
            "reason": entry.reason,
            "expires": entry.expires.isoformat() if entry.expires else None,
            "state": self.state,
            "why": self.why,
        }


@dataclass(frozen=True, slots=True)
class Overrides:
    """The entries that speak of kernels in these sources, each with its state so far."""

    judged: tuple[Judged, ...] = ()

    def applied(self, kind: Kind | None = None) -> tuple[Entry, ...]:
        return tuple(j.entry for j in self.judged if j.state == "applied" and kind in (None, j.entry.kind))

    def settings(self) -> list[str]:
        """What a lock file says of them: what counted when the output was made."""
        return sorted(entry.says() for entry in self.applied())

    def choices(self, base: Choices) -> dict[str, KernelChoice]:
        """The choices per kernel with the overrides laid over those that are there."""
        made = dict(base)
        for entry in self.applied("override"):
            old = made.get(entry.kernel, KernelChoice())
            tiles = tuple(TileLimit(name, size) for name, size in entry.tiles)
            kept = tuple(tile for tile in old.tiles if tile.parameter not in dict(entry.tiles))
            made[entry.kernel] = replace(
                old,
                tiles=(*tiles, *kept),
                off=old.off | {*entry.rules},
                source=f"{entry.file}: {entry.reason}",
            )
        return made

    def over(self, kernels: Iterable[KernelRecord]) -> tuple[tuple[KernelRecord, ...], Overrides]:
        """The kernels with their accepted findings set apart, and the entries with their final state."""
        used: set[Entry] = set()
        records = tuple(self._accepted(kernel, used) for kernel in kernels)
        judged = tuple(
            Judged(j.entry, "unused", "no such finding: remove the entry")
            if j.state == "applied" and j.entry.kind == "suppress" and j.entry not in used
            else j
            for j in self.judged
        )
        return records, Overrides(judged)

    def findings(self) -> tuple[Judged, ...]:
        """The entries that somebody has to look at."""
        return tuple(j for j in self.judged if j.state != "applied")

    def _accepted(self, kernel: KernelRecord, used: set[Entry]) -> KernelRecord:
        entries = [entry for entry in self.applied("suppress") if entry.kernel == kernel.name]
        left = list(kernel.unresolved)
        suppressed: list[Suppressed] = []
        for item in kernel.unresolved:
            entry = next((e for e in entries if item.slug in e.rules and e.text in item.why), None)
            if entry is not None:
                used.add(entry)
                left.remove(item)
                suppressed.append(
                    Suppressed(item.slug, item.file, item.line, item.why, entry.reason, entry.file)
                )
        if not suppressed:
            return kernel
        accepted = kernel.outcome == "needs-review" and not left
        return replace(
            kernel,
            unresolved=tuple(left),
            suppressed=tuple(suppressed),
            outcome="converted" if accepted else kernel.outcome,
        )


def judge(
    entries: Iterable[Entry], kernels: Mapping[str, str], modules: Collection[str], active: Collection[str]
) -> Overrides:
    """Which entries count. kernels: fingerprint by name; modules: those read; active: the rules that run.

    Entries about modules that were not read, and about rules that do not run, say nothing here.
    """
    found = (
        _judged(entry, kernels, today())
        for entry in entries
        if entry.kernel.partition(":")[0] in modules and (entry.tiles or {*entry.rules} & {*active})
    )
    return Overrides(tuple(found))


def _judged(entry: Entry, kernels: Mapping[str, str], now: date) -> Judged:
    actual = kernels.get(entry.kernel)
    if actual is None:
        return Judged(entry, "stale", "there is no such kernel any more")
    if actual not in entry.fingerprints:
        return Judged(entry, "stale", f"the kernel changed, its fingerprint is {actual}: look again")
    if entry.expires is not None and now > entry.expires:
        return Judged(entry, "expired", f"it was good until {entry.expires.isoformat()}")
    return Judged(entry, "applied")


def today() -> date:
    """The date that expiry is held against; SOURCE_DATE_EPOCH sets it where a build must be repeatable."""
    epoch = os.environ.get("SOURCE_DATE_EPOCH", "")
    now = (
        datetime.fromtimestamp(int(epoch), timezone.utc) if epoch.isdecimal() else datetime.now(timezone.utc)
    )
    return now.date()


def load_overrides(
    own: Sequence[Path], known: Collection[str], whole: Collection[str] = ()
) -> tuple[Entry, ...]:
    """The entries of rules/kernels and of the user's files or folders.

    known: slugs of rules. whole: rules that change a kernel and its launches together, so that no single kernel can
    go without them. Raises UserError, naming file and line, for what is missing, unknown or of the wrong kind.
    """
    entries: list[Entry] = []
    for file in data_files("kernels"):
        data = read_toml(file)
        shown = f"rules/kernels/{file.name}"
        entries += _entries(file, shown, {kind: data[kind] for kind in KINDS if kind in data}, known, whole)
    for path in own:
        for file in _files(path):
            entries += _entries(
                file, str(path if path == file else path / file.name), read_toml(file), known, whole
            )
    return tuple(entries)


def _files(path: Path) -> list[Path]:
    if path.is_dir():
        return sorted(path.glob("*.toml"))
    if not path.is_file():
        raise UserError(f"no such file or folder of overrides: {path}")
    return [path]


def _entries(
    file: Path, shown: str, data: Mapping[str, Any], known: Collection[str], whole: Collection[str]
) -> list[Entry]:
    for key in data:
        if key not in KINDS:
            raise UserError(
                f"unknown table {key!r}", f"known: {', '.join(KINDS)}", str(file), line_of_key(file, key)
            )
    return [
        _Reader(file, shown, kind, known, whole).entry(table)
        for kind in KINDS
        for table in data.get(kind, [])
    ]


class _Reader:
    """Reads the tables of one kind in one file."""

    def __init__(
        self, file: Path, shown: str, kind: Kind, known: Collection[str], whole: Collection[str]
    ) -> None:
        self.file, self.shown, self.known, self.whole = file, shown, known, whole
        self.kind: Kind = kind

    def entry(self, table: Mapping[str, Any]) -> Entry:
        own = {"suppress": ("rule", "text"), "override": ("off", "tiles")}[self.kind]
        for key in table:
            if key not in ("kernel", "fingerprint", "reason", "expires", *own):
                raise self._error(key, f"unknown key {key!r} in [[{self.kind}]]")
        rules = self._names(
            table, "rule" if self.kind == "suppress" else "off", needed=self.kind == "suppress"
        )
        for slug in rules:
            if slug not in self.known:
                raise self._error(own[0], f"unknown rule {slug!r}", f"known: {', '.join(sorted(self.known))}")
            if self.kind == "override" and slug in self.whole:
                hint = "leave it out for all kernels: ignore = [...] in the configuration"
                raise self._error("off", f"{slug} cannot be left out for one kernel", hint)
        made = Entry(
            kind=self.kind,
            file=self.shown,
            kernel=self._names(table, "kernel")[0],
            fingerprints=self._names(table, "fingerprint"),
            reason=self._names(table, "reason")[0],
            rules=rules,
            text=str(table.get("text", "")),
            tiles=self._tiles(table),
            expires=self._expires(table),
        )
        if not made.rules and not made.tiles:
            raise self._error("off", "an override needs off or tiles")
        return made

    def _names(self, table: Mapping[str, Any], key: str, *, needed: bool = True) -> tuple[str, ...]:
        value = table.get(key, [])
        items = [value] if isinstance(value, str) else value
        if not isinstance(items, list) or not all(_is_text(item) for item in items):
            raise self._error(key, f"{key} must be text that is not empty, or a list of such")
        if needed and not items:
            raise self._error(key, f"[[{self.kind}]] needs {key}")
        return tuple(items)

    def _tiles(self, table: Mapping[str, Any]) -> tuple[tuple[str, int], ...]:
        value = table.get("tiles", {})
        if not isinstance(value, dict) or not all(_is_size(size) for size in value.values()):
            raise self._error("tiles", "tiles must name sizes, such as { BV = 32 }")
        return tuple(sorted(value.items()))

    def _expires(self, table: Mapping[str, Any]) -> date | None:
        value = table.get("expires")
        if value is not None and (not isinstance(value, date) or isinstance(value, datetime)):
            raise self._error("expires", "expires must be a date, such as 2027-06-30")
        return value

    def _error(self, key: str, message: str, hint: str = "") -> UserError:
        return UserError(message, hint, file=str(self.file), line=line_of_key(self.file, key))


def _is_text(value: Any) -> bool:
    return isinstance(value, str) and bool(value.strip())


def _is_size(value: Any) -> bool:
    return isinstance(value, int) and not isinstance(value, bool) and value > 0
