"""Which versions the interpreter tiers work with, and the one line that says so when they are absent or
wrong."""

from __future__ import annotations

import platform
from collections.abc import Callable
from importlib import metadata
from pathlib import Path

from packaging.specifiers import SpecifierSet
from packaging.version import InvalidVersion, Version

REQUIRED: dict[str, SpecifierSet] = {
    "torch": SpecifierSet(">=2.1"),
    "triton": SpecifierSet(">=3.2,<3.7"),
    "numpy": SpecifierSet(">=1.26"),
    "safetensors": SpecifierSet(">=0.4"),
}
"""Triton: from 3.7 on the interpreter lacks `tl.make_block_ptr`, and before 3.2 it lacks the launch path that
the shims hook. torch and numpy: what these Tritons run with."""

Installed = Callable[[str], str | None]


def installed_version(name: str) -> str | None:
    try:
        return metadata.version(name)
    except metadata.PackageNotFoundError:
        return None


def processor_name() -> str:
    """The processor's model, as Linux tells it, else its kind."""
    try:
        lines = Path("/proc/cpuinfo").read_text(encoding="utf-8").splitlines()
    except OSError:
        lines = []
    models = (line.partition(":")[2].strip() for line in lines if line.startswith("model name"))
    return next(models, platform.processor() or platform.machine())


def check_versions(installed: Installed = installed_version) -> tuple[dict[str, str], str | None]:
    """The versions found, and why the tier cannot run with them (None when it can)."""
    found = {name: version for name in REQUIRED if (version := installed(name)) is not None}
    wrong = [_complaint(name, found.get(name)) for name in REQUIRED if not _fits(name, found.get(name))]
    if not wrong:
        return found, None
    need = f"the interpreter tiers need {', '.join(wrong)}"
    return found, f"{need}; install tritonport[verify] with its constraints file"


def _fits(name: str, version: str | None) -> bool:
    if version is None:
        return False
    try:
        return REQUIRED[name].contains(Version(version).public, prereleases=True)
    except InvalidVersion:
        return False


def _complaint(name: str, version: str | None) -> str:
    return f"{name}{REQUIRED[name]} ({'not installed' if version is None else f'found {version}'})"
