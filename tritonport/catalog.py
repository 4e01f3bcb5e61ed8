"""rules/catalog: what is said about each rule, and its examples."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path

from tritonport.errors import UserError
from tritonport.resources import rules_root
from tritonport.toml import read_toml


@dataclass(frozen=True, slots=True)
class CatalogEntry:
    """One rules/catalog/<slug>. code: stable id (TPxyz). page: the text of its README."""

    slug: str
    code: str
    title: str
    rule_class: str
    folder: Path

    @property
    def page(self) -> str:
        return (self.folder / "README.md").read_text(encoding="utf-8")


def entries() -> tuple[CatalogEntry, ...]:
    """Every rule of the catalogue, by code."""
    folders = [p for p in (rules_root() / "catalog").iterdir() if (p / "rule.toml").is_file()]
    return tuple(sorted((_entry(folder) for folder in folders), key=lambda e: e.code))


def entry(slug: str) -> CatalogEntry:
    """The rule of that slug or code. Raises UserError for an unknown one."""
    for found in entries():
        if slug in (found.slug, found.code):
            return found
    raise UserError(f"unknown rule {slug!r}", f"known: {', '.join(e.slug for e in entries())}")


def _entry(folder: Path) -> CatalogEntry:
    data = read_toml(folder / "rule.toml")
    return CatalogEntry(data["slug"], data["code"], data["title"], data["class"], folder)
