"""`tritonport doctor`: what this machine has, and which tiers can run here."""

from __future__ import annotations

import os
import platform
import sys
from collections.abc import Iterator
from pathlib import Path

from tritonport import __version__
from tritonport.cli.console import stdout
from tritonport.cli.toolchain_cmd import describe
from tritonport.config import load
from tritonport.emit.lock import rules_digest
from tritonport.npu.toolchain import ToolchainStatus, toolchain_status
from tritonport.sources.wheel import cache_folder
from tritonport.verify.versions import check_versions, installed_version


def doctor() -> None:
    """Show what this machine has, and which tiers can run here. A broken configuration is an error (exit 2)."""
    for line in _lines():
        stdout().print(line, soft_wrap=True, highlight=False, markup=False)


def _lines() -> Iterator[str]:
    yield f"tritonport {__version__}, Python {platform.python_version()}, {sys.platform} {platform.machine()}"
    yield f"rules: {rules_digest()}"
    config = load(Path.cwd())
    yield f"configuration: {config.file or 'none, the defaults count'}"
    yield f"cache: {cache_folder()} ({_writable(cache_folder())})"
    versions, wrong = check_versions()
    for name, version in versions.items():
        yield f"  {name} {version}"
    status = toolchain_status()
    yield describe(status)
    yield "tiers:"
    yield "  parse: can run"
    for tier in ("interpret", "hazard"):
        yield f"  {tier}: {'not run here: ' + wrong if wrong else 'can run'}"
    yield f"  gpu: {_gpu(wrong)}"
    yield f"  npu-compile: {_npu_compile(status)}"
    yield f"  npu-run: {_npu_run()}"


def _writable(folder: Path) -> str:
    """Whether the folder, or the nearest one above it that exists, can be written."""
    there = next(place for place in (folder, *folder.parents) if place.exists())
    return "can be written" if os.access(there, os.W_OK) else "cannot be written: set TRITONPORT_CACHE_DIR"


def _gpu(wrong: str | None) -> str:
    """The driver's device files say whether a GPU is here, without loading torch."""
    if wrong:
        return f"not run here: {wrong}"
    if not any(Path("/dev").glob("nvidia[0-9]*")):
        return "not run here: no NVIDIA device"
    return "a device is here"


def _npu_compile(status: ToolchainStatus) -> str:
    if not status.supported:
        return f"not run here: {status.why}"
    if not status.installed:
        return "not run here: `tritonport toolchain install` installs the compiler"
    return "can run"


def _npu_run() -> str:
    if not any(Path("/dev").glob("davinci[0-9]*")):
        return "not run here: no Ascend device"
    if installed_version("torch_npu") is None:
        return "not run here: torch_npu is not installed"
    if not os.environ.get("ASCEND_HOME_PATH"):
        return "not run here: CANN's environment is not set (source its set_env.sh)"
    return "a device is here"
