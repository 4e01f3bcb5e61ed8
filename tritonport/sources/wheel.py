"""Wheels fetched by pip, which knows the user's mirrors and proxies, into a user cache.

One release is a folder, `<cache>/wheels/<distribution>/<version>/`, with the wheel and an unpacked `tree/`.
The folder appears by one rename, so an interrupted download leaves nothing and two processes may race.
"""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
import tempfile
import zipfile
import zlib
from collections.abc import Callable
from dataclasses import dataclass
from hashlib import sha256
from pathlib import Path

import platformdirs
from packaging.utils import canonicalize_name

from tritonport.errors import UserError

CACHE_VARIABLE = "TRITONPORT_CACHE_DIR"
_PIP = ("-m", "pip", "--disable-pip-version-check", "--no-input", "download", "--retries", "1", "--no-deps")
_PIP_OPTIONS = ("--only-binary", ":all:", "--ignore-requires-python", "--progress-bar", "off")


@dataclass(frozen=True, slots=True)
class Wheel:
    """An unpacked release. tree: the folder to import from. sha256: of the wheel file."""

    distribution: str
    version: str
    sha256: str
    tree: Path


def cache_folder() -> Path:
    """Where fetched wheels are kept: $TRITONPORT_CACHE_DIR, or the platform's user cache."""
    chosen = os.environ.get(CACHE_VARIABLE)
    return Path(chosen).absolute() if chosen else platformdirs.user_cache_path("tritonport", appauthor=False)


def fetch(
    distribution: str,
    version: str,
    expected: str | None,
    *,
    offline: bool = False,
    progress: Callable[[str, int, int], None] | None = None,
) -> Wheel:
    """The wheel of one release, from the cache or else from the package index.

    expected: sha256 in hex that the wheel must have, None when nobody listed this release.
    Raises UserError without network, for an unknown release, and when the digest differs.
    """
    name = canonicalize_name(distribution)
    home = cache_folder() / "wheels" / name / version
    cached = _cached(home, expected)
    if cached is None:
        if offline:
            raise UserError(
                f"{name} {version} is not in the cache and --offline is given", "run once without it"
            )
        if progress is not None:
            progress(f"fetching {name} {version}", 0, 1)
        _download(home, name, version, expected)
        cached = _cached(home, expected)
    if cached is None:
        raise UserError(
            f"the cache does not keep {name} {version} whole", "set " + CACHE_VARIABLE, file=str(home)
        )
    return Wheel(name, version, cached, home / "tree")


def _cached(home: Path, expected: str | None) -> str | None:
    """Digest of the wheel in home when the wheel is the expected one and its tree is as it was unpacked."""
    wheel = next(iter(sorted(home.glob("*.whl"))), None)
    if wheel is None:
        return None
    digest = sha256(wheel.read_bytes()).hexdigest()
    return digest if expected in (None, digest) and _tree_is_whole(wheel, home / "tree") else None


def _tree_is_whole(wheel: Path, tree: Path) -> bool:
    """Whether every file of the wheel is in tree, unchanged: cache cleaners and editors do touch caches."""
    with zipfile.ZipFile(wheel) as archive:
        members = [info for info in archive.infolist() if not info.is_dir()]
    return all(_has_crc(tree / info.filename, info.CRC) for info in members)


def _has_crc(path: Path, crc: int) -> bool:
    try:
        return zlib.crc32(path.read_bytes()) == crc
    except OSError:
        return False


def _download(home: Path, name: str, version: str, expected: str | None) -> None:
    """Fetch and unpack beside home, then put the finished folder in its place."""
    try:
        home.parent.mkdir(parents=True, exist_ok=True)
        work = Path(tempfile.mkdtemp(prefix=f".{version}-", dir=home.parent))
    except OSError as error:
        hint = f"set {CACHE_VARIABLE} to a folder that you can write"
        raise UserError(f"cannot write the cache: {error.strerror}", hint, file=str(home.parent)) from error
    try:
        wheel = _pip_download(work, name, version)
        _check_digest(wheel, expected)
        with zipfile.ZipFile(wheel) as archive:
            archive.extractall(work / "tree")
        _put_in_place(work, home, expected)
    finally:
        shutil.rmtree(work, ignore_errors=True)


def _pip_download(folder: Path, name: str, version: str) -> Path:
    command = [sys.executable, *_PIP, *_PIP_OPTIONS, "--dest", str(folder), f"{name}=={version}"]
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    wheel = next(iter(folder.glob("*.whl")), None)
    if done.returncode != 0 or wheel is None:
        raise UserError(f"cannot fetch {name}=={version}: {_reason(done.stderr)}", _hint(done.stderr))
    return wheel


def _reason(stderr: str) -> str:
    if "No module named pip" in stderr:
        return "this Python has no pip"
    if "(from versions: none)" in stderr:
        return "no network, or the package index does not have it"
    errors = [line.removeprefix("ERROR: ") for line in stderr.splitlines() if line.startswith("ERROR: ")]
    return errors[0] if errors else "pip failed without a message"


def _hint(stderr: str) -> str:
    if "No module named pip" in stderr:
        return "install pip into it, or unpack the wheel and give its folder"
    return "check the version and pip's index settings, or unpack the wheel and give its folder"


def _check_digest(wheel: Path, expected: str | None) -> None:
    actual = sha256(wheel.read_bytes()).hexdigest()
    if expected not in (None, actual):
        raise UserError(
            f"{wheel.name} from the package index has sha256 {actual}, the manifest says {expected}",
            "the index or a mirror serves another file; nothing was kept",
        )


def _put_in_place(work: Path, home: Path, expected: str | None) -> None:
    """Rename work to home. Another process may have done it first; a broken folder there makes way."""
    for _ in range(2):
        try:
            work.rename(home)
            return
        except OSError:
            if _cached(home, expected) is not None:
                return
            aside = Path(tempfile.mkdtemp(prefix=".old-", dir=home.parent))
            home.rename(aside / home.name)
            shutil.rmtree(aside, ignore_errors=True)
