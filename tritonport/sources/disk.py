"""Sources that lie on disk: finds the folder that the package imports from, and upstream's licence files."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path, PurePosixPath

from tritonport.errors import UserError
from tritonport.sources.distribution import license_files, owned_licenses, owner_beside
from tritonport.sources.tree import SourceTree, python_files

# Packages beside the real one that a checkout usually has.
_SIDE_PACKAGES = frozenset(
    {"test", "tests", "testing", "docs", "doc", "examples", "benchmarks", "benchmark", "scripts"}
)


def from_path(path: Path) -> SourceTree:
    """The tree around an existing file or folder. Raises UserError when there is no Python in it."""
    path = path.resolve()
    if path.is_file() and path.suffix != ".py":
        raise UserError("not a Python file", "give a .py file, a folder or a module", file=str(path))
    entry = path if path.is_file() else _entry_folder(path)
    root = package_root(entry)
    relative = PurePosixPath(entry.relative_to(root).as_posix())
    package = relative.parts[0] if relative.parts and is_package(root / relative.parts[0]) else None
    tree = SourceTree(root, package, relative, notes=_left_out(path, entry))
    if not tree.entry_files():
        raise UserError(
            "no Python file in this folder", "give a .py file, a folder or a module", file=str(path)
        )
    owner = owner_beside(root, entry)
    if owner is None:
        return replace(tree, licenses=licenses_above(root))
    return replace(
        tree, distribution=owner.metadata["Name"], version=owner.version, licenses=owned_licenses(owner)
    )


def is_package(folder: Path) -> bool:
    return (folder / "__init__.py").is_file()


def package_root(entry: Path) -> Path:
    """The folder that must be on sys.path for entry to import under its full name."""
    folder = (
        entry if is_package(entry) else entry.parent if entry.is_file() or is_package(entry.parent) else entry
    )
    while is_package(folder):
        folder = folder.parent
    return folder


def _entry_folder(folder: Path) -> Path:
    """The folder itself, or the one package inside when it is a checkout's top folder."""
    if is_package(folder) or is_package(folder.parent):
        return folder
    packages = sorted(child for child in folder.iterdir() if child.is_dir() and is_package(child))
    real = [child for child in packages if child.name not in _SIDE_PACKAGES]
    if len(real) > 1:
        names = ", ".join(child.name for child in real)
        raise UserError(f"holds more than one package: {names}", "name one of them", file=str(folder))
    return real[0] if real else folder


def _left_out(folder: Path, entry: Path) -> tuple[str, ...]:
    """A note about Triton code beside the one package that a checkout's folder stands for."""
    if entry == folder or not folder.is_dir():
        return ()
    aside = [folder / name for name in (*_SIDE_PACKAGES, entry.name)]
    beside = sorted(
        file.relative_to(folder).as_posix()
        for file in python_files(folder)
        if not any(file.is_relative_to(part) for part in aside) and b"triton" in file.read_bytes()
    )
    if not beside:
        return ()
    more = f" and {len(beside) - 3} more" if len(beside) > 3 else ""
    names = ", ".join(beside[:3]) + more
    return (
        f"{folder.name} holds the package {entry.name}, which alone is read; name these to have them read: {names}",
    )


def licenses_above(root: Path) -> tuple[Path, ...]:
    """Licence files in root, or else in the nearest folder above it within the same checkout."""
    for folder in (root, *root.parents):
        found = license_files(folder)
        if found:
            return found
        if any((folder / mark).exists() for mark in (".git", "pyproject.toml", "setup.py")):
            break
    return ()
