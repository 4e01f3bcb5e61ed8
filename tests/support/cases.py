"""The own kernels under tests/kernels and a way to run them in another process."""

from __future__ import annotations

import ast
import json
import os
import subprocess
import sys
from pathlib import Path
from typing import Any

REPOSITORY = Path(__file__).resolve().parents[2]
OWN = REPOSITORY / "tests" / "kernels" / "own"
PACKAGES = REPOSITORY / "tests" / "kernels" / "packages"


def own_files() -> list[Path]:
    return sorted(OWN.glob("*.py"))


def package_cases() -> list[Path]:
    return sorted(PACKAGES.glob("*_case.py"))


def meta(path: Path) -> dict[str, Any]:
    """META of a case file, read without running it."""
    for node in ast.parse(path.read_text(encoding="utf-8")).body:
        if (
            isinstance(node, ast.Assign)
            and isinstance(node.targets[0], ast.Name)
            and node.targets[0].id == "META"
        ):
            return ast.literal_eval(node.value)
    raise AssertionError(f"{path} has no META")


def environment(**more: str) -> dict[str, str]:
    """Environment of a child that runs kernels: one thread, the repository importable, the interpreter on."""
    path = os.pathsep.join([str(REPOSITORY), *filter(None, [os.environ.get("PYTHONPATH")])])
    threads = {"OMP_NUM_THREADS": "1", "OPENBLAS_NUM_THREADS": "1"}
    return {**os.environ, "PYTHONPATH": path, "TRITON_INTERPRET": "1", **threads, **more}


def run_cases(files: list[Path], root: Path | None = None, **env: str) -> dict[str, dict[str, Any]]:
    """Result of `run_case` per file's stem. Raises when the child itself fails."""
    command = [sys.executable, "-m", "tests.support.run_case", *map(str, files)]
    if root is not None:
        command[3:3] = ["--root", str(root)]
    done = subprocess.run(
        command,
        cwd=REPOSITORY,
        env=environment(**env),
        capture_output=True,
        text=True,
        timeout=600,
        check=False,
    )
    assert done.returncode == 0, done.stderr
    results = [json.loads(line) for line in done.stdout.splitlines() if line.startswith("{")]
    return {Path(result["file"]).stem: result for result in results}
