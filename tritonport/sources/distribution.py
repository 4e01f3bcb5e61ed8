"""Which distribution a file belongs to, by the metadata beside it, and where its licences are."""

from __future__ import annotations

import importlib.metadata
from importlib.metadata import Distribution
from pathlib import Path

_LICENSE_NAMES = ("LICENSE*", "LICENCE*", "COPYING*", "NOTICE*")


def owner_beside(root: Path, path: Path) -> Distribution | None:
    """The distribution with metadata in root (site-packages, an unpacked wheel) that lists path.

    Several distributions may share one top-level package, so the file list decides.
    """
    names = (
        dist for dist in importlib.metadata.distributions(path=[str(root)]) if _mentions(dist, root, path)
    )
    return next((dist for dist in names if _lists(dist, path)), None)


def owner_by_name(top: str) -> Distribution | None:
    """The only installed distribution that provides a top-level name (an editable install lies elsewhere)."""
    names = set(importlib.metadata.packages_distributions().get(top, []))
    return importlib.metadata.distribution(names.pop()) if len(names) == 1 else None


def owned_licenses(owner: Distribution) -> tuple[Path, ...]:
    """Licence files in the distribution's metadata folder."""
    infos = {file.parts[0] for file in owner.files or [] if file.parts[0].endswith(".dist-info")}
    folders = [Path(str(owner.locate_file(info))).resolve() for info in sorted(infos)]
    return tuple(
        file for info in folders for folder in (info, info / "licenses") for file in license_files(folder)
    )


def license_files(folder: Path) -> tuple[Path, ...]:
    found = (path for pattern in _LICENSE_NAMES for path in folder.glob(pattern) if path.is_file())
    return tuple(sorted(found))


def _mentions(owner: Distribution, root: Path, path: Path) -> bool:
    """A cheap look before the file list is located on disk."""
    prefix = path.relative_to(root).as_posix()
    return prefix in (owner.read_text("RECORD") or "")


def _lists(owner: Distribution, path: Path) -> bool:
    files = owner.files or []
    located = (Path(str(owner.locate_file(file))).resolve() for file in files if file.suffix == ".py")
    return any(file == path or path in file.parents for file in located)
