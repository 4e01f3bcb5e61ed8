"""Modules of installed distributions, found without importing them or their parents."""

from __future__ import annotations

import importlib.machinery
import importlib.util
from pathlib import Path, PurePosixPath

from tritonport.sources.disk import licenses_above
from tritonport.sources.distribution import owned_licenses, owner_beside, owner_by_name
from tritonport.sources.tree import SourceTree


def from_installed(module: str) -> SourceTree | None:
    """The tree that holds an installed module, or None when nothing installed provides it."""
    found = _locate(module)
    if found is None:
        return None
    root = found
    for _ in module.split("."):
        root = root.parent
    top = module.partition(".")[0]
    owner = owner_beside(root, found) or owner_by_name(top)
    return SourceTree(
        root=root,
        package=top,
        entry=PurePosixPath(found.relative_to(root).as_posix()),
        distribution=owner.metadata["Name"] if owner else None,
        version=owner.version if owner else None,
        licenses=owned_licenses(owner) if owner else licenses_above(root),
    )


def _locate(module: str) -> Path | None:
    """The folder or file of a module; only its top-level name goes through hooks (editable installs)."""
    top, *rest = module.split(".")
    spec = importlib.util.find_spec(top)
    for depth, _ in enumerate(rest, start=2):
        if spec is None or spec.submodule_search_locations is None:
            return None
        name = ".".join([top, *rest][:depth])
        spec = importlib.machinery.PathFinder.find_spec(name, list(spec.submodule_search_locations))
    return None if spec is None else _path_of(spec)


def _path_of(spec: importlib.machinery.ModuleSpec) -> Path | None:
    if spec.submodule_search_locations is not None:
        folder = next(iter(spec.submodule_search_locations), None)
        return Path(folder).resolve() if folder else None
    source = spec.origin if spec.has_location else None
    return Path(source).resolve() if source and source.endswith(".py") else None
