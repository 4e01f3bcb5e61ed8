"""Runs the GDN operators of an original or a renamed copy and prints a digest of every result.

    python -m tests.support.operators SITE VERSION [MAPPING.json]

MAPPING.json: {"functions": {...}, "names": {...}} of a Shuffled; absent for the original.
"""

from __future__ import annotations

import importlib
import json
import subprocess
import sys
import tempfile
import warnings
from collections.abc import Callable
from pathlib import Path
from typing import Any

from tests.golden.record_launches import SCENARIOS, Scenario, inputs
from tests.support import cases, interp
from tests.support.run_case import digest
from tests.support.shuffle import Shuffled

CHUNK = "fla.ops.gated_delta_rule.chunk:chunk_gated_delta_rule"
DECODE = "fla.ops.gated_delta_rule.fused_recurrent:fused_recurrent_gated_delta_rule"
CASES = (
    "chunk, packed",
    "chunk, l2norm in kernel",
    "chunk, gate in kernel",
    "chunk of 32",
    "decode, packed, l2norm",
)


def _find(path: str) -> Callable[..., Any]:
    module, _, name = path.partition(":")
    return getattr(importlib.import_module(module), name)


def run(case: Scenario, functions: dict[str, str], names: dict[str, str]) -> list[str]:
    given = inputs(case)
    renamed = {names.get(key, key): value for key, value in given.items()}
    path = DECODE if case.decode else CHUNK
    out, state = _find(functions.get(path, path))(**renamed)
    if case.decode:
        return [digest((out, state))]
    (out.float().sum() + state.float().sum()).backward()
    return [digest((out, state)), digest(tuple(given[name].grad for name in ("q", "k", "v", "g", "beta")))]


def run_operators(
    site: Path, version: str, copy: Shuffled | None = None, cores: int = 3
) -> dict[str, list[str]]:
    """The digests of a site, computed in another process; copy: what the names of a renamed site are."""
    command = [sys.executable, "-m", "tests.support.operators", str(site), version]
    with tempfile.TemporaryDirectory() as folder:
        if copy is not None:
            mapping = Path(folder) / "mapping.json"
            mapping.write_text(
                json.dumps({"functions": copy.functions, "names": copy.names}), encoding="utf-8"
            )
            command.append(str(mapping))
        done = subprocess.run(
            command,
            cwd=cases.REPOSITORY,
            env=cases.environment(TRITONPORT_CORES=str(cores)),
            capture_output=True,
            text=True,
            check=False,
        )
    assert done.returncode == 0, done.stderr
    return json.loads(done.stdout.splitlines()[-1])


def main(site: Path, mapping: Path | None, version: str) -> None:
    warnings.filterwarnings("ignore")
    sys.path.insert(0, str(site))
    interp.install()
    known = {} if mapping is None else json.loads(mapping.read_text(encoding="utf-8"))
    number = tuple(int(part) for part in version.split("."))
    cases = [case for case in SCENARIOS if case.name in CASES and number >= case.since]
    print(json.dumps({c.name: run(c, known.get("functions", {}), known.get("names", {})) for c in cases}))


if __name__ == "__main__":
    main(Path(sys.argv[1]), Path(sys.argv[3]) if len(sys.argv) > 3 else None, sys.argv[2])
