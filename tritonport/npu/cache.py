"""Results by content: a kernel whose IR, options and toolchain did not change costs nothing."""

from __future__ import annotations

import hashlib
import json
import os
import tempfile
from collections.abc import Iterable
from functools import cache
from pathlib import Path
from typing import Any

from tritonport.sources.wheel import cache_folder


@cache
def reader_digest() -> str:
    """Of this package's own sources: a changed reader must not find an older reader's answers."""
    folder = Path(__file__).parent
    total = hashlib.sha256()
    for path in sorted(folder.rglob("*.py")):
        total.update(path.relative_to(folder).as_posix().encode() + b"\0" + path.read_bytes())
    return total.hexdigest()


def key(*parts: Any) -> str:
    """A name for everything that a result depends on, this package included."""
    text = json.dumps([reader_digest(), *parts], sort_keys=True, default=str)
    return hashlib.sha256(text.encode()).hexdigest()


def get(name: str) -> Any:
    """The stored value, or None. A damaged entry counts as none."""
    try:
        return json.loads(_place(name).read_text())
    except (OSError, ValueError):
        return None


def put(name: str, value: Any) -> None:
    """Stores by one rename, so that two processes may race. A cache that cannot be written is no error."""
    place = _place(name)
    try:
        place.parent.mkdir(parents=True, exist_ok=True)
        with tempfile.NamedTemporaryFile("w", dir=place.parent, delete=False) as handle:
            json.dump(value, handle, sort_keys=True)
        os.replace(handle.name, place)  # noqa: PTH105
    except OSError:
        return


def _place(name: str) -> Path:
    return cache_folder() / "npu" / name[:2] / f"{name[2:]}.json"


def digest_of_sources(folders: Iterable[Path]) -> str:
    """One digest over the names and bytes of every Python file below the folders (or of the files)."""
    total = hashlib.sha256()
    for folder in folders:
        files = [folder] if folder.is_file() else sorted(folder.rglob("*.py"))
        for path in files:
            name = path.name if path == folder else path.relative_to(folder).as_posix()
            total.update(name.encode() + b"\0" + hashlib.sha256(path.read_bytes()).digest())
    return total.hexdigest()
