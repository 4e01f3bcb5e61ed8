"""How long the compile tier takes: the whole closure of one release, before and after, one case.

    python tests/bench/bench_npu_compile.py [fla-core version] [jobs]

Limits (2 cores): under 60 s with a cold cache, under 5 s with a warm one, 2 GiB for all processes together.
Prints JSON; exits 1 when a limit is broken, 2 when the compiler is not installed.
"""

from __future__ import annotations

import json
import os
import resource
import subprocess
import sys
import tempfile
import threading
import time
from pathlib import Path
from unittest import mock

from tritonport.npu.tier import run_npu_compile
from tritonport.sources import resolve

LIMITS = {"cold_seconds": 60, "warm_seconds": 5, "peak_mebibytes": 2048}


def resident(root: int) -> int:
    """Bytes that a process and all below it hold, shared pages divided among their users."""
    parents: dict[int, int] = {}
    for entry in Path("/proc").glob("[0-9]*"):
        try:
            parents[int(entry.name)] = int((entry / "stat").read_text().rpartition(")")[2].split()[1])
        except (OSError, ValueError, IndexError):
            continue
    mine = [pid for pid in parents if root in ancestry(pid, parents)]
    return sum(proportional(pid) for pid in mine)


def ancestry(pid: int, parents: dict[int, int]) -> list[int]:
    line = [pid]
    while line[-1] in parents and parents[line[-1]] not in line:
        line.append(parents[line[-1]])
    return line


def proportional(pid: int) -> int:
    try:
        text = Path(f"/proc/{pid}/smaps_rollup").read_text()
    except OSError:
        return 0
    return next((int(line.split()[1]) * 1024 for line in text.splitlines() if line.startswith("Pss:")), 0)


def main() -> int:
    version = sys.argv[1] if len(sys.argv) > 1 else "0.6.0"
    jobs = int(sys.argv[2]) if len(sys.argv) > 2 else 2
    source = resolve("fla.ops.gated_delta_rule", from_spec=f"fla-core=={version}")
    peak, stop = [0], threading.Event()

    def watch() -> None:
        while not stop.wait(0.2):
            peak[0] = max(peak[0], resident(os.getpid()))

    with tempfile.TemporaryDirectory() as name:
        out = Path(name) / "out"
        tool = Path(sys.executable).with_name("tritonport")
        command = [str(tool), "migrate", str(source.entry_path), "-o", str(out), "-q"]
        subprocess.run(command, check=False, stdout=subprocess.DEVNULL)
        migrated = resource.getrusage(resource.RUSAGE_CHILDREN).ru_utime
        threading.Thread(target=watch, daemon=True).start()
        with mock.patch("tritonport.npu.cache.cache_folder", lambda: Path(name) / "cache"):
            seconds, reports = [], []
            for _ in range(2):
                started = time.monotonic()
                reports.append(
                    run_npu_compile(
                        source=source, out=out, cases=["dense-128"], target="a2", jobs=jobs, toolchain=None,
                        progress=lambda *_: None,
                    )
                )  # fmt: skip
                seconds.append(round(time.monotonic() - started, 2))
        stop.set()
    if reports[0].status != "ran":
        print(reports[0].why, file=sys.stderr)
        return 2
    found = {"cold_seconds": seconds[0], "warm_seconds": seconds[1], "peak_mebibytes": peak[0] >> 20}
    # on a busy machine the wall clock says little; the processor time of all compilers says what is asked
    found["cpu_seconds"] = round(resource.getrusage(resource.RUSAGE_CHILDREN).ru_utime - migrated, 1)
    kernels = len(reports[0].kernels)
    print(json.dumps({"release": version, "jobs": jobs, "kernels": kernels, **found, "limits": LIMITS}))
    return int(any(found[key] > limit for key, limit in LIMITS.items()))


if __name__ == "__main__":
    sys.exit(main())
