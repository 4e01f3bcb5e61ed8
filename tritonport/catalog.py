"""rules/catalog: what is said about each rule, and its examples."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from itertools import pairwise
from pathlib import Path

from tritonport.errors import UserError
from tritonport.plugins import rule_packages
from tritonport.resources import rules_root
from tritonport.toml import read_toml

ABOUT = "rule.toml"
KEYS = ("slug", "code", "title", "class", "needed")
RESIZES = "resizes-tiles"


@dataclass(frozen=True, slots=True)
class CatalogEntry:
    """One rules/catalog/<slug>. code: stable id (TPxyz). needed: needed, speed, both or correctness.

    page: the text of its README. examples: the folder of its examples. resizes_tiles: whether a kernel computes in
    tiles of another shape afterwards, in which a compiler may add up in another order.
    """

    slug: str
    code: str
    title: str
    rule_class: str
    folder: Path
    needed: str = ""
    resizes_tiles: bool = False

    @property
    def page(self) -> str:
        return (self.folder / "README.md").read_text(encoding="utf-8")

    @property
    def examples(self) -> Path:
        return self.folder / "examples"


def entries() -> tuple[CatalogEntry, ...]:
    """Every rule by code, those of installed packages included. Raises UserError where two share a code."""
    own = [entry for package in rule_packages() if package.catalog for entry in entries_in(package.catalog)]
    found = sorted([*built_in_entries(), *own], key=lambda e: e.code)
    for first, second in pairwise(found):
        if first.code == second.code:
            place = str(second.folder / ABOUT)
            raise UserError(f"{second.code} is the code of {first.slug} already", "take a free one", place)
    return tuple(found)


def resizing_rules() -> frozenset[str]:
    """Slugs of the rules after which a kernel computes in tiles of another shape."""
    return frozenset(found.slug for found in entries() if found.resizes_tiles)


def built_in_entries() -> tuple[CatalogEntry, ...]:
    """The rules of rules/catalog, by code."""
    return entries_in(rules_root() / "catalog")


def entries_in(folder: Path) -> tuple[CatalogEntry, ...]:
    """The rule that a folder describes, or of the folders in it, by code. Raises UserError for none."""
    if (folder / ABOUT).is_file():
        return (_entry(folder),)
    found = [_entry(inner) for inner in sorted(folder.iterdir()) if (inner / ABOUT).is_file()]
    if not found:
        raise UserError(f"no {ABOUT} in this folder or in one below it", file=str(folder))
    return tuple(sorted(found, key=lambda e: e.code))


def entry(slug: str, among: Sequence[CatalogEntry] | None = None) -> CatalogEntry:
    """The rule of that slug or code. Raises UserError for an unknown one."""
    known = entries() if among is None else among
    for found in known:
        if slug in (found.slug, found.code):
            return found
    raise UserError(f"unknown rule {slug!r}", f"known: {', '.join(e.slug for e in known)}")


def _entry(folder: Path) -> CatalogEntry:
    data = read_toml(folder / ABOUT)
    for key in KEYS:
        if not isinstance(data.get(key), str):
            raise UserError(
                f"{key} is missing or no text", f"it needs {', '.join(KEYS)}", str(folder / ABOUT)
            )
    return CatalogEntry(
        data["slug"],
        data["code"],
        data["title"],
        data["class"],
        folder,
        needed=data["needed"],
        resizes_tiles=data.get(RESIZES) is True,
    )
