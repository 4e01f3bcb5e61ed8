"""A work folder whose path depends on its content alone.

bishengir-compile's plan depends on pointer order, and that depends on the name of its folder too: of 14 runs
in folders of random names 4 gave other bytes, of 20 runs in one folder none did.
"""

from __future__ import annotations

import fcntl
import os
import shutil
import tempfile
from collections.abc import Generator
from contextlib import contextmanager
from pathlib import Path


@contextmanager
def folder_for(key: str) -> Generator[Path, None, None]:
    """An empty folder for this content, the same path each time; a second user of it waits for the first."""
    home = _home()
    if home is None:
        with tempfile.TemporaryDirectory(prefix="tritonport-npu-") as name:
            yield Path(name)
        return
    lock = home / f"{key[:2]}.lock"  # few names, because locks stay
    with lock.open("w") as handle:
        fcntl.flock(handle, fcntl.LOCK_EX)
        folder = home / key
        shutil.rmtree(folder, ignore_errors=True)
        folder.mkdir()
        try:
            yield folder
        finally:
            shutil.rmtree(folder, ignore_errors=True)


def _home() -> Path | None:
    """A folder of this user alone, or None when its name is taken by somebody else."""
    home = Path(tempfile.gettempdir()) / f"tritonport-npu-{os.getuid()}"
    home.mkdir(mode=0o700, exist_ok=True)
    facts = home.lstat()
    return home if facts.st_uid == os.getuid() and not home.is_symlink() and home.is_dir() else None
