"""How the time of a migration grows with the number of lines, and what the whole package takes.

    python -m tests.bench.migrate_scale [VERSION] [--jobs 2] [--whole]

Three entries of one release (5 600 to 69 000 lines in 0.6.0) are migrated in processes of their own. Lines are those of
files with kernels or launches; what is only read for its names costs next to nothing. CPU time per line must not grow:
the gate is a ratio, seconds depend on the machine. `--whole` migrates all of fla besides, as a user would.
"""

from __future__ import annotations

import argparse
import resource
import subprocess
import sys
import tempfile
import time
from dataclasses import dataclass
from pathlib import Path

from tritonport.discover import analyse
from tritonport.facts.programs import plan_programs
from tritonport.parallel import concerned
from tritonport.sources import resolve

ENTRIES = ("fla.ops.simple_gla", "fla.modules", "fla.ops")
WHOLE = "fla"
GROWTH = 1.5
"""Largest ratio of CPU time per line, of an entry to the smallest one. Reading the program and the rules is in the
small one's time too, so a linear job is below 1."""


@dataclass(frozen=True)
class Run:
    """files: of the closure. lines: of those with kernels or launches. Times in seconds; cpu is of all processes.

    memory: MiB of the largest process.
    """

    entry: str
    files: int
    lines: int
    wall: float
    cpu: float
    memory: float

    @property
    def per_line(self) -> float:
        return self.cpu / self.lines


def run(entry: str, version: str, jobs: int) -> Run:
    tree = resolve(entry, from_spec=f"fla-core=={version}")
    analysis = analyse(tree)
    files = analysis.discovery.files
    lines = sum(module.text.count("\n") for module in concerned(analysis, plan_programs(analysis)))
    before, start = resource.getrusage(resource.RUSAGE_CHILDREN), time.monotonic()
    with tempfile.TemporaryDirectory() as folder:
        command = [
            sys.executable,
            "-m",
            "tritonport",
            "migrate",
            entry,
            "--from",
            f"fla-core=={version}",
            "--offline",
        ]
        command += ["--profile", "baseline", "-q", "--jobs", str(jobs), "-o", str(Path(folder) / "out")]
        done = subprocess.run(command, check=False, stdout=subprocess.DEVNULL)
    assert done.returncode in (0, 1), f"{entry}: exit {done.returncode}"
    after = resource.getrusage(resource.RUSAGE_CHILDREN)
    cpu = after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime
    return Run(entry, len(files), lines, time.monotonic() - start, cpu, after.ru_maxrss / 1024)


def too_steep(runs: list[Run]) -> list[Run]:
    """Those whose time per line is more than that of the smallest one allows."""
    least = min(runs, key=lambda run: run.lines)
    return [run for run in runs if run.per_line > GROWTH * least.per_line]


def main() -> None:
    parser = argparse.ArgumentParser()
    parser.add_argument("version", nargs="?", default="0.6.0")
    parser.add_argument("--jobs", type=int, default=2)
    parser.add_argument("--whole", action="store_true")
    args = parser.parse_args()
    runs = [run(entry, args.version, args.jobs) for entry in ENTRIES]
    whole = [run(WHOLE, args.version, args.jobs)] if args.whole else []
    for found in (*runs, *whole):
        print(
            f"{found.entry}: {found.files} files, {found.lines} lines, {found.wall:.1f} s, CPU {found.cpu:.1f} s "
            f"({1000 * found.per_line:.2f} ms a line), {found.memory:.0f} MiB"
        )
    raise SystemExit(bool(too_steep([*runs, *whole])))


if __name__ == "__main__":
    main()
