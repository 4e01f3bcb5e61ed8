"""The same input gives the same bytes, and an interrupted run leaves the old output whole."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
import time
from collections.abc import Callable
from pathlib import Path

import pytest

from tests.support import cases
from tests.support.migrated import python_texts
from tritonport.sources import SourceTree

TRITONPORT = str(Path(sys.executable).with_name("tritonport"))


def run(source: object, out: Path, *more: str, **env: str) -> dict[str, bytes]:
    command = [TRITONPORT, "migrate", str(source), "-o", str(out), *more]
    done = subprocess.run(
        command, env=cases.environment(**env), capture_output=True, text=True, timeout=300, check=False
    )
    assert done.returncode in (0, 1), done.stderr
    return python_texts(out)


def test_bytes_do_not_depend_on_hash_seed_or_processes(tmp_path: Path) -> None:
    source = cases.PACKAGES / "braid"
    texts = [
        run(source, tmp_path / f"out_{seed}_{jobs}" / "out", "--jobs", jobs, PYTHONHASHSEED=seed)
        for seed, jobs in (("0", "1"), ("1", "1"), ("4711", "2"))
    ]
    assert len(texts[0]) >= 4
    assert texts[0] == texts[1] == texts[2]


@pytest.mark.slow
def test_a_release_gives_the_same_bytes_in_one_and_in_two_processes(
    fla_tree: Callable[[str], SourceTree], tmp_path: Path
) -> None:
    entry = fla_tree("0.6.0").entry_path
    one = run(entry, tmp_path / "one" / "out", "--jobs", "1", PYTHONHASHSEED="0")
    assert run(entry, tmp_path / "two" / "out", "--jobs", "2", PYTHONHASHSEED="99") == one


@pytest.mark.parametrize("after", [0.3, 2.0])
def test_sigint_leaves_the_previous_output_whole(
    fla_tree: Callable[[str], SourceTree], tmp_path: Path, after: float
) -> None:
    """Interrupted as by Ctrl-C: the signal reaches every process of the group. after: seconds of CPU time."""
    out = tmp_path / "out"
    before = run(cases.PACKAGES / "braid", out)
    child = subprocess.Popen(
        [TRITONPORT, "migrate", str(fla_tree("0.6.0").entry_path), "-o", str(out), "--jobs", "2"],
        env=cases.environment(),
        stdout=subprocess.DEVNULL,
        stderr=subprocess.PIPE,
        start_new_session=True,
        text=True,
    )
    _wait_for_cpu(child.pid, after)
    assert child.poll() is None, "the run ended before it was interrupted: interrupt earlier"
    os.killpg(child.pid, signal.SIGINT)
    _, stderr = child.communicate(timeout=60)
    assert child.returncode != 0
    assert python_texts(out) == before
    assert [p.name for p in tmp_path.iterdir()] == ["out"]
    if after > 1:  # past the imports
        assert "Traceback" not in stderr
        assert child.returncode == 130


def _wait_for_cpu(pid: int, seconds: float) -> None:
    """Wait until a process has used so much CPU time, so that a busy machine does not move the moment."""
    ticks = os.sysconf("SC_CLK_TCK")
    for _ in range(6000):
        fields = Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()
        if (int(fields[11]) + int(fields[12])) / ticks >= seconds:
            return
        time.sleep(0.01)
