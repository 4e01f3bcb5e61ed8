"""The releases that the package index has, asked through pip, which knows the user's mirrors and proxies."""

from __future__ import annotations

import subprocess
import sys

from packaging.version import InvalidVersion, Version

from tritonport.errors import UserError

_PIP = ("-m", "pip", "--disable-pip-version-check", "--no-input", "index", "versions", "--retries", "1")
_OPTIONS = ("--only-binary", ":all:", "--ignore-requires-python")
_LINE = "Available versions:"


def releases(distribution: str) -> tuple[str, ...]:
    """Every release with a wheel, oldest first; pre-releases are left out. Raises UserError without an answer."""
    command = [sys.executable, *_PIP, *_OPTIONS, distribution]
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    line = next((line for line in done.stdout.splitlines() if line.strip().startswith(_LINE)), None)
    if done.returncode != 0 or line is None:
        raise UserError(
            f"the package index does not say which releases {distribution} has: {_reason(done.stderr)}",
            "check the name, the network and pip's index settings",
        )
    return tuple(sorted((text.strip() for text in line.strip().removeprefix(_LINE).split(",")), key=Version))


def newer(known: tuple[str, ...], since: str) -> tuple[str, ...]:
    """Those after a version, oldest first. Raises UserError when since is no version."""
    try:
        start = Version(since)
    except InvalidVersion as error:
        raise UserError(
            f"not a version: {since!r}", "write it as the package index does, such as 0.5.1"
        ) from error
    return tuple(sorted((v for v in known if Version(v) > start), key=Version))


def _reason(stderr: str) -> str:
    errors = [line.removeprefix("ERROR: ") for line in stderr.splitlines() if line.startswith("ERROR: ")]
    return errors[0] if errors else "pip failed without a message"
