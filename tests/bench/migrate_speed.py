"""CPU time of the migration against the time LibCST needs to parse and print the same files.

    python -m tests.bench.migrate_speed [VERSION] [--repeat N]

The files are the import closure of the GDN operators of one fla-core release. The ratio is the gate: seconds
depend on the machine, the ratio hardly does. All gates of the migration are included, verification is not.
"""

from __future__ import annotations

import argparse
import tempfile
import time
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path

import libcst as cst

from tests.support.migrated import migrate
from tritonport.discover import discover
from tritonport.sources import SourceTree, resolve

ENTRY = "fla.ops.gated_delta_rule"
CEILING = 20.0
"""Largest ratio, from the project's promise on speed."""


@dataclass(frozen=True)
class Speed:
    """files, lines: of the closure. Times in seconds of CPU time of this process, the best of the repeats."""

    files: int
    lines: int
    parse_print: float
    migrate: float

    @property
    def ratio(self) -> float:
        return self.migrate / self.parse_print


def best(work: Callable[[], object], repeat: int) -> float:
    """Smallest CPU time of several runs."""
    times: list[float] = []
    for _ in range(repeat):
        start = time.process_time()
        work()
        times.append(time.process_time() - start)
    return min(times)


def parse_and_print(texts: list[str]) -> None:
    for text in texts:
        assert cst.parse_module(text).code == text


def measure(tree: SourceTree, repeat: int) -> Speed:
    texts = [(tree.root / file).read_text(encoding="utf-8") for file in discover(tree).files]
    with tempfile.TemporaryDirectory() as folder:
        out = Path(folder) / "out"
        return Speed(
            files=len(texts),
            lines=sum(text.count("\n") for text in texts),
            parse_print=best(lambda: parse_and_print(texts), repeat),
            migrate=best(lambda: migrate(tree, out), repeat),
        )


def main() -> None:
    parser = argparse.ArgumentParser()
    parser.add_argument("version", nargs="?", default="0.6.0")
    parser.add_argument("--repeat", type=int, default=3)
    args = parser.parse_args()
    speed = measure(resolve(ENTRY, from_spec=f"fla-core=={args.version}"), args.repeat)
    print(f"fla-core {args.version}: {speed.files} files, {speed.lines} lines")
    print(f"parse and print {speed.parse_print:.2f} s, migrate {speed.migrate:.2f} s of CPU time")
    print(f"ratio {speed.ratio:.1f} (at most {CEILING:.0f})")
    raise SystemExit(speed.ratio > CEILING)


if __name__ == "__main__":
    main()
