"""Asks, in a process of its own, whether a device is there."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path

from tritonport.errors import UserError
from tritonport.verify.device.settings import DeviceKind

SECONDS = 180
"""The first use of a device on a cold machine loads its drivers for a minute."""


@dataclass(frozen=True, slots=True)
class Found:
    """facts: name of the device and versions of what drives it. processors: the most programs that a migrated
    kernel starts. why: the reason when there is no such device."""

    facts: Mapping[str, str] = field(default_factory=dict[str, str])
    processors: int = 0
    why: str | None = None


def look_for(kind: DeviceKind, index: int) -> Found:
    """What the probe says of one device; never raises."""
    package = Path(__file__).resolve().parents[3]
    path = os.pathsep.join(p for p in (str(package), os.environ.get("PYTHONPATH", "")) if p)
    environment = {n: v for n, v in os.environ.items() if n != "TRITON_INTERPRET"} | {"PYTHONPATH": path}
    command = [sys.executable, "-m", "tritonport.verify.child.device.probe", kind, str(index)]
    try:
        done = subprocess.run(
            command, env=environment, capture_output=True, text=True, check=False, timeout=SECONDS
        )
    except subprocess.TimeoutExpired:
        return Found(why=f"{kind}:{index} did not answer within {SECONDS} s")
    try:
        answer = json.loads(done.stdout.strip().splitlines()[-1])
    except (ValueError, IndexError):
        return Found(why=f"{kind}:{index} cannot be asked: the process ended with status {done.returncode}")
    if "why" in answer:
        return Found(why=answer["why"])
    return Found(answer["facts"], answer["processors"])


def parse_device(text: str) -> tuple[DeviceKind, int]:
    """`cuda`, `cuda:1`, `npu:0`. Raises UserError for anything else."""
    kind, colon, index = text.partition(":")
    if kind not in ("cuda", "npu") or (colon and not index.isdecimal()):
        raise UserError(f"unknown device {text!r}", "cuda or npu, with a number behind a colon: cuda:1")
    return kind, int(index or 0)
