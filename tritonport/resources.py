"""Finds the data folders rules/ and corpus/ from a wheel, an sdist and an editable install alike."""

from __future__ import annotations

from pathlib import Path

_PACKAGE = Path(__file__).resolve().parent


def _root(installed: str, checkout: str) -> Path:
    inside = _PACKAGE / installed
    return inside if inside.is_dir() else _PACKAGE.parent / checkout


def rules_root() -> Path:
    """The folder with catalog/, targets/, profiles/ and kernels/."""
    return _root("_rules", "rules")


def corpus_root() -> Path:
    """The folder with one sub-folder per corpus (fla_gdn)."""
    return _root("_corpus", "corpus")
