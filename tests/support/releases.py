"""fla-core releases migrated once a session, shared by the tests that look at the result."""

from __future__ import annotations

import tempfile
from functools import cache
from pathlib import Path

from tests.support.migrated import migrate
from tritonport.migrate import MigrateResult
from tritonport.sources import SourceTree

_FOLDERS: list[tempfile.TemporaryDirectory[str]] = []
"""Kept alive until the session ends."""


@cache
def migrated(tree: SourceTree, profile: str = "baseline") -> MigrateResult:
    """The result of migrating a tree with the default options, and a profile."""
    folder = tempfile.TemporaryDirectory(prefix="tritonport-tests-")
    _FOLDERS.append(folder)
    return migrate(tree, Path(folder.name) / "out", profile=profile)
