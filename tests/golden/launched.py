"""The recorded launches of the originals (see record_launches.py)."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

RELEASES = ("0.3.2", "0.4.0", "0.4.1", "0.4.2", "0.5.0", "0.5.1", "0.5.2", "0.6.0")
APART = "functions apart"
"""Launches of functions called by themselves; an operator of that release may not reach them."""


def launched(version: str) -> dict[str, Any]:
    return json.loads((Path(__file__).parent / f"launched_{version}.json").read_text(encoding="utf-8"))


def launched_kernels(version: str) -> set[str]:
    """`module:kernel` of what whole operators launched: chunk forward, chunk backward and decode."""
    lists = {name: both for name, both in launched(version)["scenarios"].items() if name != APART}
    return {kernel for both in lists.values() for kernel in both["forward"] + both["backward"]}
