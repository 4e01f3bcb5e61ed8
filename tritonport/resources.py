"""Finds the data folders rules/ and corpus/ from a wheel, an sdist and an editable install alike."""

from __future__ import annotations

import os
from pathlib import Path

from tritonport.errors import UserError

DATA_VARIABLE = "TRITONPORT_DATA_DIR"
"""Folders of the user's own, in the form of rules/, separated as in PATH; the configuration's `data` adds to it."""

_PACKAGE = Path(__file__).resolve().parent


def _root(installed: str, checkout: str) -> Path:
    inside = _PACKAGE / installed
    return inside if inside.is_dir() else _PACKAGE.parent / checkout


def rules_root() -> Path:
    """The folder with catalog/, targets/, profiles/ and kernels/."""
    return _root("_rules", "rules")


def data_roots() -> tuple[Path, ...]:
    """rules/ of the tool, then the user's own folders."""
    own = (part for part in os.environ.get(DATA_VARIABLE, "").split(os.pathsep) if part)
    return (rules_root(), *(Path(part) for part in own))


def data_files(part: str) -> tuple[Path, ...]:
    """The TOML files of one part (profiles, targets, kernels, tuning) in all data folders, the tool's first."""
    return tuple(file for root in data_roots() for file in sorted((root / part).glob("*.toml")))


def named_files(part: str) -> dict[str, Path]:
    """The files of one part by name. Raises UserError where a file of the user's has a name that is taken."""
    found: dict[str, Path] = {}
    for file in data_files(part):
        if file.stem in found:
            raise UserError(
                f"{file.stem} exists already, in {found[file.stem].parent}", "rename it", str(file)
            )
        found[file.stem] = file
    return found


def corpus_root() -> Path:
    """The folder with one sub-folder per corpus (fla_gdn)."""
    return _root("_corpus", "corpus")
