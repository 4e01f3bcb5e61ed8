"""The releases that a corpus lists: what each distribution provides, and the digest of each wheel."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path

from packaging.utils import canonicalize_name
from packaging.version import Version

from tritonport.resources import corpus_root
from tritonport.toml import read_toml


@dataclass(frozen=True, slots=True)
class Release:
    """One wheel on the package index. sha256 is of the whole wheel file, in hex."""

    version: str
    file: str
    sha256: str


@dataclass(frozen=True, slots=True)
class Manifest:
    """corpus/<name>/manifest.toml: one distribution, its releases, and what it provides.

    provides: import names; everything below them counts as provided. entry: what the corpus verifies.
    """

    distribution: str
    provides: tuple[str, ...]
    entry: str
    releases: tuple[Release, ...]

    @property
    def newest(self) -> Release:
        return max(self.releases, key=lambda release: Version(release.version))

    def release(self, version: str) -> Release | None:
        wanted = Version(version)
        return next((r for r in self.releases if Version(r.version) == wanted), None)

    def has(self, module: str) -> bool:
        return any(module == name or module.startswith(f"{name}.") for name in self.provides)


def manifests() -> tuple[Manifest, ...]:
    """Every manifest of the corpus, by name of the corpus."""
    return tuple(load_manifest(path) for path in sorted(corpus_root().glob("*/manifest.toml")))


def load_manifest(path: Path) -> Manifest:
    data = read_toml(path)
    return Manifest(
        distribution=data["distribution"],
        provides=tuple(data["provides"]),
        entry=data["entry"],
        releases=tuple(Release(r["version"], r["file"], r["sha256"]) for r in data["release"]),
    )


def manifest_of(distribution: str) -> Manifest | None:
    name = canonicalize_name(distribution)
    return next((m for m in manifests() if canonicalize_name(m.distribution) == name), None)


def manifest_providing(module: str) -> Manifest | None:
    return next((m for m in manifests() if m.has(module)), None)
