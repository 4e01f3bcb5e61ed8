"""The hook that repositories with generated kernels use, run by pre-commit itself."""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest
import yaml

from tests.support.cli import KERNEL, in_process, package

REPOSITORY = Path(__file__).resolve().parents[2]
HOOKS = REPOSITORY / ".pre-commit-hooks.yaml"


def hooks() -> list[dict[str, Any]]:
    return yaml.safe_load(HOOKS.read_text())


@pytest.fixture
def project(tmp_path: Path) -> Path:
    """A git repository with a package and its generated kernels."""
    folder = tmp_path / "project"
    package(folder / "demo", rows=KERNEL)
    assert in_process("migrate", "demo", "-o", "npu", "-q", cwd=folder).returncode == 0
    for command in (["init", "-q"], ["add", "."]):
        subprocess.run(["git", "-C", folder, *command], check=True)
    return folder


def test_the_entry_is_a_command_that_passes_and_fails(project: Path) -> None:
    (hook,) = hooks()
    program, *args = hook["entry"].split()
    assert program == "tritonport" and not hook["pass_filenames"]
    assert in_process(*args, "demo", "npu", cwd=project).returncode == 0
    (project / "npu" / "demo" / "rows.py").write_text("# edited\n")
    assert in_process(*args, "demo", "npu", cwd=project).returncode == 1


@pytest.mark.slow
@pytest.mark.network
def test_pre_commit_installs_and_runs_it(project: Path) -> None:
    """From a clone of what is committed; pre-commit makes an environment of its own for it."""
    program = shutil.which(
        "pre-commit", path=f"{Path(sys.executable).parent}{os.pathsep}{os.environ['PATH']}"
    )
    if program is None:
        pytest.skip("pre-commit is not installed")
    head = ["git", "-C", str(REPOSITORY), "rev-parse", "HEAD"]
    rev = subprocess.run(head, capture_output=True, text=True, check=True).stdout.strip()
    config = {
        "repos": [
            {
                "repo": str(REPOSITORY),
                "rev": rev,
                "hooks": [{"id": "tritonport-check", "args": ["demo", "npu"]}],
            }
        ]
    }
    (project / ".pre-commit-config.yaml").write_text(yaml.safe_dump(config))
    env = {**os.environ, "PRE_COMMIT_HOME": str(project.parent / "pre-commit")}
    command = [program, "run", "--all-files", "tritonport-check"]
    done = subprocess.run(command, cwd=project, env=env, capture_output=True, text=True, check=False)
    assert done.returncode == 0 and "Passed" in done.stdout, done.stdout + done.stderr
    with (project / "npu" / "demo" / "rows.py").open("a") as file:
        file.write("# mine\n")
    done = subprocess.run(command, cwd=project, env=env, capture_output=True, text=True, check=False)
    assert done.returncode == 1 and "hand edit" in done.stdout, done.stdout + done.stderr
