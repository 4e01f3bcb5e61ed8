"""Kernels that are listed apart, because what they need cannot be had on one device (corpus/*/apart.toml)."""

from __future__ import annotations

import sys
from fnmatch import fnmatch
from functools import cache
from pathlib import PurePosixPath

from tritonport.resources import corpus_root

if sys.version_info >= (3, 11):
    import tomllib
else:
    import tomli as tomllib


@cache
def _entries() -> tuple[tuple[str, str], ...]:
    found: list[tuple[str, str]] = []
    for file in sorted(corpus_root().glob("*/apart.toml")):
        data = tomllib.loads(file.read_text(encoding="utf-8"))
        found += [(item["path"], item["reason"]) for item in data["apart"]]
    return tuple(found)


def apart_reason(file: PurePosixPath) -> str | None:
    """Why the kernels of a file are listed apart, or None."""
    return next((reason for path, reason in _entries() if fnmatch(str(file), path)), None)
