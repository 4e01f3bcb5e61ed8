"""A compiler never outlives the run that started it for long."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
import time
from pathlib import Path

import pytest

START = """
import sys
from pathlib import Path
from tritonport.npu.process import run
run(["sh", "-c", "echo $$ > pid; while :; do :; done"], Path(sys.argv[1]), {"PATH": "/usr/bin:/bin"}, 2)
"""


def alive(pid: int) -> bool:
    state = Path(f"/proc/{pid}/stat")
    return state.is_file() and state.read_text().rpartition(")")[2].split()[0] != "Z"


@pytest.mark.skipif(sys.platform != "linux", reason="the compiler runs on Linux only")
def test_a_compiler_that_hangs_ends_although_the_run_was_killed(tmp_path: Path) -> None:
    parent = subprocess.Popen([sys.executable, "-c", START, tmp_path])
    started = tmp_path / "pid"
    deadline = time.monotonic() + 60
    while not (started.exists() and started.read_text().strip()) and time.monotonic() < deadline:
        time.sleep(0.05)
    os.kill(parent.pid, signal.SIGKILL)
    parent.wait()
    pid = int(started.read_text())
    while alive(pid) and time.monotonic() < deadline:
        time.sleep(0.1)
    assert not alive(pid)
