"""Migrating through the product's API, and putting the result where it can be run."""

from __future__ import annotations

import shutil
from pathlib import Path
from typing import Any

from tritonport.migrate import MigrateOptions, MigrateResult, migrate_tree
from tritonport.record import KernelRecord
from tritonport.sources import SourceTree, resolve


def quiet(stage: str, done: int, total: int) -> None:
    """Progress that nobody reads."""


def migrate(source: Path | SourceTree, out: Path, **options: Any) -> MigrateResult:
    tree = source if isinstance(source, SourceTree) else resolve(str(source))
    return migrate_tree(tree, out, MigrateOptions(**options), quiet)


def by_name(result: MigrateResult) -> dict[str, KernelRecord]:
    """Kernel records by `module:function`."""
    return {kernel.name: kernel for kernel in result.record.kernels}


def overlay(source: SourceTree, out: Path, target: Path) -> Path:
    """The whole package (or lone file) with the output laid over it, in a new folder to import from."""
    if source.package is None:
        target.mkdir(parents=True)
        shutil.copyfile(source.entry_path, target / source.entry.name)
    else:
        shutil.copytree(source.root / source.package, target / source.package)
    shutil.copytree(out, target, dirs_exist_ok=True)
    return target


def python_texts(out: Path) -> dict[str, bytes]:
    """Every file below a folder by its relative path, with its bytes."""
    return {p.relative_to(out).as_posix(): p.read_bytes() for p in sorted(out.rglob("*")) if p.is_file()}
