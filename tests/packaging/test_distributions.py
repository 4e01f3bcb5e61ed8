"""rules/ and corpus/ are found from a wheel, from a wheel made of the sdist, and from an editable install."""

from __future__ import annotations

import os
import subprocess
import sys
import tarfile
import venv
import zipfile
from pathlib import Path

import pytest

REPOSITORY = Path(__file__).resolve().parents[2]
SHOW = """
import tritonport
from tritonport.emit.tree import runtime_text
from tritonport.npu.pins import pins
from tritonport.profiles import load_profile
from tritonport.report.run_json import run_schema
from tritonport.resources import corpus_root, rules_root
from tritonport.sources.manifest import manifests
from tritonport.targets import load_target

assert load_profile("baseline").rules and load_target("a2").chips and manifests()
assert pins().compilers and run_schema()["title"] and "on_cube_cores" in runtime_text()
print(tritonport.__file__, rules_root(), corpus_root(), sep="\\n")
"""


def build(kind: str, source: Path, target: Path) -> Path:
    """Build one distribution with the build backend that is installed here; nothing is fetched."""
    command = [
        sys.executable,
        "-m",
        "build",
        "--no-isolation",
        f"--{kind}",
        "--outdir",
        str(target),
        str(source),
    ]
    done = subprocess.run(command, capture_output=True, text=True, timeout=300, check=False)
    assert done.returncode == 0, done.stdout + done.stderr
    (made,) = target.iterdir()
    return made


@pytest.fixture(scope="module")
def wheel(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return build("wheel", REPOSITORY, tmp_path_factory.mktemp("wheel"))


@pytest.fixture(scope="module")
def sdist(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return build("sdist", REPOSITORY, tmp_path_factory.mktemp("sdist"))


@pytest.fixture(scope="module")
def wheel_of_sdist(sdist: Path, tmp_path_factory: pytest.TempPathFactory) -> Path:
    unpacked = tmp_path_factory.mktemp("unpacked")
    with tarfile.open(sdist) as archive:
        archive.extractall(unpacked, filter="data")
    (top,) = unpacked.iterdir()
    return build("wheel", top, tmp_path_factory.mktemp("wheel_of_sdist"))


def names(wheel: Path) -> set[str]:
    with zipfile.ZipFile(wheel) as archive:
        return set(archive.namelist())


def data_files() -> set[str]:
    """What the repository has, by where a wheel has it; only what git keeps."""
    done = subprocess.run(
        ["git", "ls-files", "-co", "--exclude-standard", "rules", "corpus", "tritonport"], cwd=REPOSITORY,
        capture_output=True, text=True, check=True,
    )  # fmt: skip
    places = {"rules": "tritonport/_rules", "corpus": "tritonport/_corpus", "tritonport": "tritonport"}
    split = (line.split("/", 1) for line in done.stdout.splitlines() if (REPOSITORY / line).is_file())
    return {f"{places[top]}/{rest}" for top, rest in split}


def test_a_wheel_holds_every_file_of_the_package_and_its_data(wheel: Path) -> None:
    missing = data_files() - names(wheel)
    assert not missing


def test_a_wheel_made_of_the_sdist_is_the_same(wheel: Path, wheel_of_sdist: Path) -> None:
    assert names(wheel_of_sdist) == names(wheel)


@pytest.mark.parametrize("kind", ["wheel", "wheel_of_sdist"])
def test_data_is_found_from_an_installed_wheel(
    kind: str, request: pytest.FixtureRequest, tmp_path: Path
) -> None:
    with zipfile.ZipFile(request.getfixturevalue(kind)) as archive:
        archive.extractall(tmp_path / "site")
    shown = _show(tmp_path, sys.executable, PYTHONPATH=str(tmp_path / "site"))
    package = tmp_path / "site" / "tritonport"
    assert shown == [str(package / "__init__.py"), str(package / "_rules"), str(package / "_corpus")]


def test_data_is_found_from_an_editable_install(tmp_path: Path) -> None:
    """In an environment of its own that sees the dependencies of this one."""
    venv.create(tmp_path / "venv", with_pip=False)
    python = tmp_path / "venv" / "bin" / "python"
    command = [sys.executable, "-m", "pip", "--python", str(python), "install", "-q", "--no-deps"]
    command += ["--no-build-isolation", "--no-index", "--editable", str(REPOSITORY)]
    dependencies = os.pathsep.join(p for p in sys.path if p.endswith("-packages"))
    env = {**os.environ, "PYTHONPATH": dependencies}
    done = subprocess.run(command, env=env, capture_output=True, text=True, timeout=300, check=False)
    assert done.returncode == 0, done.stderr
    shown = _show(tmp_path, str(python), PYTHONPATH=dependencies)
    assert shown == [str(REPOSITORY / p) for p in ("tritonport/__init__.py", "rules", "corpus")]


def _show(folder: Path, python: str, **env: str) -> list[str]:
    clean = {key: value for key, value in os.environ.items() if not key.startswith("PYTHON")}
    command = [python, "-c", SHOW]
    done = subprocess.run(
        command, cwd=folder, env={**clean, **env}, capture_output=True, text=True, timeout=120, check=False
    )
    assert done.returncode == 0, done.stderr
    return done.stdout.splitlines()
