"""The facts about one set of sources that everything later reads."""

from __future__ import annotations

import hashlib
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path, PurePosixPath


@dataclass(frozen=True, slots=True)
class SourceTree:
    """Sources of one package, or of one lone file.

    root: the folder on sys.path from which the modules import (`root/fla/ops/...`).
    package: name of the top-level package (`fla`); None for a lone file outside any package.
    entry: what the user named, relative to root: one folder or one file.
    distribution, version: where it came from, when it came from a distribution.
    licenses: upstream's licence files, absolute.
    notes: lines to show the user (an unlisted version, a default that was taken).
    """

    root: Path
    package: str | None
    entry: PurePosixPath
    distribution: str | None = None
    version: str | None = None
    licenses: tuple[Path, ...] = ()
    notes: tuple[str, ...] = ()

    @property
    def entry_path(self) -> Path:
        return self.root / self.entry

    def entry_files(self) -> tuple[PurePosixPath, ...]:
        """The Python files that the entry names, sorted, relative to root.

        Hand ports and virtual environments are never input.
        """
        if self.entry_path.is_file():
            return (self.entry,)
        found = (PurePosixPath(p.relative_to(self.root).as_posix()) for p in python_files(self.entry_path))
        return tuple(sorted(p for p in found if not is_hand_port(p.relative_to(self.entry))))

    def module_name(self, file: PurePosixPath) -> str:
        """Dotted import name of a file of this tree: `fla/ops/__init__.py` -> `fla.ops`."""
        parts = file.with_suffix("").parts
        return ".".join(parts[:-1] if parts[-1] == "__init__" else parts)


def python_files(folder: Path) -> Iterator[Path]:
    """Python files below a folder, without those of a virtual environment that lies in it."""
    for path in folder.iterdir():
        if path.is_dir() and not path.is_symlink() and not (path / "pyvenv.cfg").is_file():
            yield from python_files(path)
        elif path.suffix == ".py" and path.is_file():
            yield path


def is_hand_port(path: PurePosixPath) -> bool:
    """Whether a path lies in an existing hand port for another device (`**/backends/**`, `triton_ascend`)."""
    return "backends" in path.parts[:-1] or "triton_ascend" in path.with_suffix("").parts


def digest_bytes(data: bytes) -> str:
    return "sha256:" + hashlib.sha256(data).hexdigest()


def digest_files(root: Path, files: tuple[PurePosixPath, ...]) -> str:
    """One digest over names and bytes of these files, independent of their order."""
    total = hashlib.sha256()
    for file in sorted(files):
        total.update(f"{file}\0".encode())
        total.update(hashlib.sha256((root / file).read_bytes()).digest())
    return "sha256:" + total.hexdigest()
