"""The workflows: checked by the linters of the field where they are installed, and their steps run here as shell."""

from __future__ import annotations

import json
import os
import re
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

from tests.support.cli import KERNEL
from tests.support.wheels import pip_settings, write_wheel
from tests.workflows.steps import EXPRESSION, Runner, steps_of, workflow
from tritonport.sources.manifest import load_manifest

REPOSITORY = Path(__file__).resolve().parents[2]
FILES = sorted((REPOSITORY / ".github" / "workflows").glob("*.yml"))
RELEASE = REPOSITORY / ".github" / "workflows" / "fla-release.yml"
BIN = Path(sys.executable).parent
MANIFEST = "corpus/fla_gdn/manifest.toml"
each = pytest.mark.parametrize("file", FILES, ids=lambda file: file.stem)


def tool(name: str) -> str:
    found = shutil.which(name, path=os.pathsep.join([str(BIN), os.environ["PATH"]]))
    if found is None:
        pytest.skip(f"{name} is not installed")
    return found


@each
def test_zizmor_finds_nothing(file: Path) -> None:
    done = subprocess.run([tool("zizmor"), "--offline", file], capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stdout + done.stderr


@each
def test_actionlint_finds_nothing(file: Path) -> None:
    done = subprocess.run([tool("actionlint"), file], capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stdout + done.stderr


@each
def test_actions_are_pinned_by_digest_with_their_version(file: Path) -> None:
    used = [line.strip() for line in file.read_text().splitlines() if "uses:" in line]
    assert used
    for line in used:
        assert re.fullmatch(r"(- )?uses: [\w./-]+@[0-9a-f]{40} # v\d+\.\d+\.\d+", line), line


@each
def test_scripts_have_no_expressions_in_them(file: Path) -> None:
    data = workflow(file)
    scripts = [step["run"] for job in data["jobs"] for step in steps_of(data, job)]
    assert scripts and not any(EXPRESSION.search(script) for script in scripts)


def test_only_the_last_job_may_write_to_the_repository() -> None:
    jobs = workflow(RELEASE)["jobs"]
    writing = [name for name, job in jobs.items() if job["permissions"].get("contents") == "write"]
    assert writing == ["propose"] and set(jobs["propose"]["needs"]) == {"migrate", "npu-compile"}


def checkout(folder: Path) -> tuple[Path, Path]:
    """A clone with a bare repository as its origin, and that repository."""
    origin = folder / "origin.git"
    subprocess.run(["git", "init", "-q", "--bare", origin], check=True)
    work = folder / "work"
    (work / "corpus" / "fla_gdn").mkdir(parents=True)
    subprocess.run(["git", "init", "-q", "-b", "main", work], check=True)
    git = ["git", "-C", str(work), "-c", "user.name=t", "-c", "user.email=t@t"]
    (work / MANIFEST).write_text(
        'distribution = "demo-kernels"\nprovides = ["demo"]\nentry = "demo"\n\n'
        '[[release]]\nversion = "1.0"\nfile = "demo_kernels-1.0-py3-none-any.whl"\nsha256 = "0"\n'
    )
    for command in (["add", "."], ["commit", "-q", "-m", "start"], ["remote", "add", "origin", str(origin)]):
        subprocess.run([*git, *command], check=True)
    subprocess.run([*git, "push", "-q", "origin", "main"], check=True)
    return work, origin


def fake_gh(folder: Path) -> Path:
    """GitHub's command line, as far as the steps use it: it writes down what it was asked."""
    script = folder / "bin" / "gh"
    script.parent.mkdir()
    script.write_text('#!/bin/sh\necho "$@" >> "$GH_LOG"\ntest "$1" != pr || test -s body.md\n')
    script.chmod(0o755)
    return script


@pytest.fixture
def machine(tmp_path: Path) -> Runner:
    """A machine whose package index has demo-kernels 1.0 and 1.1."""
    links = tmp_path / "links"
    links.mkdir()
    for version, text in (("1.0", KERNEL), ("1.1", KERNEL.replace("2 * tl", "3 * tl"))):
        write_wheel(links, version, {"demo/__init__.py": "", "demo/rows.py": text})
    work, _ = checkout(tmp_path)
    env = {
        "PATH": os.pathsep.join([str(fake_gh(tmp_path).parent), str(BIN), os.environ["PATH"]]),
        "GH_LOG": str(tmp_path / "gh.log"),
        "DIST": "demo-kernels",
        "SRC": "demo",
        **pip_settings(links, tmp_path / "cache"),
    }
    return Runner(workflow(RELEASE), work, env, {"inputs.since": "1.0", "github.token": "secret"})


def test_a_new_release_is_found_migrated_and_proposed(machine: Runner, tmp_path: Path) -> None:
    work = machine.folder
    for name in ("Look for releases", "Migrate"):
        done = machine.run("migrate", name)
        assert done.returncode == 0, done.stdout + done.stderr
    assert machine.values["needs.migrate.outputs.version"] == "1.1"
    assert json.loads((work / "run.json").read_text())["source"]["version"] == "1.1"
    assert (work / "npu" / "demo" / "rows.py").is_file()
    assert json.loads((work / "run.sarif").read_text())["version"] == "2.1.0"
    assert (work / "review.html").stat().st_size > 1000
    assert "1 changed and still converted" in (work / ".summary").read_text()
    release = work / "release"
    (release / "corpus" / "fla_gdn").mkdir(parents=True)
    for path in ("upstream.md", MANIFEST):
        shutil.move(work / path, release / path)
    (work / "review").mkdir()
    shutil.move(work / "summary.md", work / "review" / "summary.md")
    subprocess.run(["git", "-C", work, "checkout", "-q", "--", MANIFEST], check=True)
    done = machine.run("propose", "Propose")
    assert done.returncode == 0, done.stdout + done.stderr
    assert "pr create --head demo-kernels-1.1" in (tmp_path / "gh.log").read_text()
    assert "1 changed and still converted" in (work / "body.md").read_text()
    shown = ["git", "-C", str(tmp_path / "origin.git"), "show", f"demo-kernels-1.1:{MANIFEST}"]
    (tmp_path / "proposed.toml").write_text(
        subprocess.run(shown, capture_output=True, text=True, check=True).stdout
    )
    assert [r.version for r in load_manifest(tmp_path / "proposed.toml").releases] == ["1.0", "1.1"]


def test_without_a_new_release_there_is_nothing_to_do(machine: Runner) -> None:
    machine.values["inputs.since"] = "1.1"
    done = machine.run("migrate", "Look for releases")
    assert done.returncode == 0, done.stderr
    assert machine.values["steps.upstream.outputs.version"] == ""
    assert "There is no release after 1.1" in (machine.folder / ".summary").read_text()


def test_a_broken_tool_stops_the_workflow(machine: Runner) -> None:
    machine.values["inputs.since"] = "yesterday"
    assert machine.run("migrate", "Look for releases").returncode == 1


@pytest.mark.slow
@pytest.mark.network
def test_the_real_release_passes_every_step(tmp_path: Path) -> None:
    """fla-core from the index: all steps but the installation of tritonport itself; about ten minutes on 2 cores."""
    from tritonport.npu.toolchain import toolchain_status

    work, _ = checkout(tmp_path)
    env = {"PATH": os.pathsep.join([str(fake_gh(tmp_path).parent), str(BIN), os.environ["PATH"]])}
    machine = Runner(workflow(RELEASE), work, env, {"inputs.since": "0.5.2"})
    failed: list[str] = []

    def run(job: str, name: str) -> None:
        """Later steps run all the same: a red step must not hide them."""
        done = machine.run(job, name)
        failed.extend([f"{name}: {done.returncode}", done.stdout, done.stderr] if done.returncode else [])

    for name in ("Look for releases", "Migrate", "Prove on the CPU"):
        run("migrate", name)
    kernels = json.loads((work / "verify.json").read_text())["kernels"]
    assert {k["tiers"]["interpret"] for k in kernels if not k["apart"]} == {"pass"}
    if not toolchain_status().supported:
        pytest.skip("the Ascend compiler does not run on this machine")
    (work / "release").mkdir()
    for path in ("npu", "run.json", "verify.json"):
        shutil.move(work / path, work / "release" / path)
    for name in ("Install the Ascend compiler", "Compile"):
        run("npu-compile", name)
    summary = (work / "review" / "summary.md").read_text()
    assert "npu-compile" in summary and "interpret" in summary
    assert (work / "review" / "review.html").stat().st_size > 10_000
    assert not failed, "\n".join(failed)
