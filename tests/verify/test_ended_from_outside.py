"""A run that is ended from outside leaves no process at work, and when it could know, no files."""

from __future__ import annotations

import shutil
import signal
import subprocess
import time
from collections.abc import Callable
from pathlib import Path

import pytest

from tests.support import cases
from tests.support.cli import SCRIPT
from tests.support.migrated import migrate

CASE = """\
import pathlib
import time

BEAT = pathlib.Path(__file__).with_name("beat")


def make_inputs(device):
    while True:
        BEAT.write_text(str(time.time()))
        time.sleep(0.02)


def launch():
    pass
"""
"""Hangs in the worker, and shows as long as that lives."""


@pytest.mark.parametrize("how", [signal.SIGTERM, signal.SIGKILL])
def test_workers_end_with_the_process_that_started_them(tmp_path: Path, how: signal.Signals) -> None:
    shutil.copytree(cases.PACKAGES / "braid", tmp_path / "braid")
    migrate(tmp_path / "braid", tmp_path / "out")
    case, beat, scratch = tmp_path / "hangs.py", tmp_path / "beat", tmp_path / "scratch"
    case.write_text(CASE, encoding="utf-8")
    scratch.mkdir()
    run = subprocess.Popen(
        [SCRIPT, "verify", "out", "braid", "--cases", case],
        cwd=tmp_path,
        env=cases.environment() | {"TMPDIR": str(scratch)},
        stderr=subprocess.PIPE,
        text=True,
    )
    _wait_until(beat.exists, 120)
    run.send_signal(how)
    _, stderr = run.communicate(timeout=60)
    _wait_until(lambda: time.time() - beat.stat().st_mtime > 1.0, 30)
    if how == signal.SIGTERM:
        assert run.returncode == 143
        assert stderr == ""
        assert not list(scratch.glob("tritonport-*"))
    else:
        assert run.returncode == -signal.SIGKILL


def _wait_until(holds: Callable[[], bool], seconds: float) -> None:
    for _ in range(int(seconds / 0.05)):
        if holds():
            return
        time.sleep(0.05)
    raise AssertionError(f"not within {seconds} s")
