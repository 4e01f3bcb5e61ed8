"""`tritonport doctor`: what this machine has, and which tiers can run here."""

from __future__ import annotations

import platform
import sys

from rich.console import Console

from tritonport import __version__
from tritonport.cli.toolchain_cmd import describe
from tritonport.npu.toolchain import toolchain_status
from tritonport.verify.versions import check_versions


def doctor() -> None:
    """Show what this machine has, and which tiers can run here."""
    console = Console()
    versions, wrong = check_versions()
    lines = [
        f"tritonport {__version__}, Python {platform.python_version()}, {sys.platform} {platform.machine()}",
        *(f"  {name} {version}" for name, version in versions.items()),
        f"interpret: {'not run here: ' + wrong if wrong else 'can run'}",
        describe(toolchain_status()),
    ]
    for line in lines:
        console.print(line, soft_wrap=True, highlight=False, markup=False)
