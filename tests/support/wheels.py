"""Wheels of one's own in a folder that pip takes for the only package index."""

from __future__ import annotations

import os
import zipfile
from collections.abc import Mapping
from pathlib import Path


def write_wheel(folder: Path, version: str, modules: Mapping[str, str], name: str = "demo_kernels") -> Path:
    """One release. modules: text by path in the wheel."""
    path = folder / f"{name}-{version}-py3-none-any.whl"
    info = f"{name}-{version}.dist-info"
    with zipfile.ZipFile(path, "w") as wheel:
        for file, text in modules.items():
            wheel.writestr(file, text)
        wheel.writestr(f"{info}/METADATA", f"Metadata-Version: 2.1\nName: {name}\nVersion: {version}\n")
        wheel.writestr(f"{info}/WHEEL", "Wheel-Version: 1.0\nTag: py3-none-any\n")
        wheel.writestr(f"{info}/RECORD", "")
    return path


def pip_settings(folder: Path, cache: Path) -> dict[str, str]:
    """Environment in which pip knows only this folder, and tritonport keeps wheels in this cache."""
    return {
        "PIP_CONFIG_FILE": os.devnull,
        "PIP_NO_INDEX": "1",
        "PIP_FIND_LINKS": str(folder),
        "TRITONPORT_CACHE_DIR": str(cache),
    }
