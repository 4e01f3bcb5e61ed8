"""Finding and installing the compiler: reasons instead of failures, and nothing half-made is taken."""

from __future__ import annotations

import json
import sys
from pathlib import Path

import pytest
from typer.testing import CliRunner

from tritonport.cli.toolchain_cmd import describe, toolchain_app
from tritonport.errors import UserError
from tritonport.npu import install, toolchain
from tritonport.npu.pins import pins
from tritonport.npu.tier import run_npu_compile
from tritonport.npu.toolchain import STAMP, Missing, locate, toolchain_status


@pytest.fixture
def home(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.setenv("TRITONPORT_CACHE_DIR", str(tmp_path))
    return tmp_path / "toolchain"


def why(found) -> str:
    assert isinstance(found, Missing)
    return found.why


@pytest.mark.parametrize(
    ("system", "machine"), [("Linux", "aarch64"), ("Darwin", "arm64"), ("Windows", "AMD64")]
)
def test_other_machines_do_not_run_the_tier(home, monkeypatch, lone_kernel, system, machine):
    monkeypatch.setattr(toolchain.platform, "system", lambda: system)
    monkeypatch.setattr(toolchain.platform, "machine", lambda: machine)
    report = run_npu_compile(
        source=lone_kernel("fits"), out=None, cases=None, target="a2", jobs=1, toolchain=None,
        progress=lambda *_: None,
    )  # fmt: skip
    assert report.status == "not-run"
    assert f"this is {system} {machine}" in report.why
    assert report.toolchain == {"triton_ascend": None, "ascendnpu_ir": None, "arch": "Ascend910B3"}
    assert report.result("fits:double") == "not-run"
    assert not toolchain_status().supported
    assert machine in describe(toolchain_status())
    with pytest.raises(UserError, match="x86-64 Linux only"):
        install.install(None, lambda *_: None)


def test_nothing_installed_names_the_command(home):
    assert "tritonport toolchain install" in why(locate())
    assert toolchain_status().installed == ()


def test_a_half_made_environment_is_not_taken(home):
    (home / pins().default / "bin").mkdir(parents=True)
    assert "not complete" in why(locate())
    status = toolchain_status()
    assert (status.installed, status.half) == ((), (pins().default,))
    assert "begun, not complete" in describe(status)


def test_a_chosen_place_without_a_compiler(home, tmp_path):
    empty = tmp_path / "empty"
    empty.mkdir()
    assert "neither bin/python nor a bishengir-compile" in why(locate(empty))


def test_a_chosen_python_without_triton_ascend(home):
    assert "has no triton-ascend" in why(locate(Path(sys.executable)))


def test_a_chosen_python_that_does_not_run(home, tmp_path):
    (tmp_path / "bin").mkdir()
    (tmp_path / "bin" / "python").write_text("#!/bin/sh\nexit 3\n")
    (tmp_path / "bin" / "python").chmod(0o755)
    assert "does not run" in why(locate(tmp_path))


def test_a_compiler_of_another_version_is_named_as_not_checked(tmp_path, toolchain):
    compiler = tmp_path / "bin" / "bishengir-compile"
    compiler.parent.mkdir()
    compiler.write_text("#!/bin/sh\necho 'bishengir-compile version 9.1.2 (abc 2030-01-01)'\n")
    compiler.chmod(0o755)
    found = locate(tmp_path)
    assert not isinstance(found, Missing)
    assert (found.bishengir, found.ascendnpu_ir) == (compiler, "9.1.2")
    assert found.notes == ("not checked with the compiler of 9.1.2 (checked: 1.0.0, 1.1.0, 1.2.0)",)
    assert found.identity != toolchain.identity


def test_the_installed_one_is_checked(toolchain):
    assert toolchain.notes == ()
    assert toolchain.torch is not None
    assert toolchain.torch.endswith("+cpu")
    unused = [path for name in pins().unused for path in toolchain.bishengir.parent.glob(name)]
    assert unused == []


def test_a_program_that_was_deleted_is_fetched_again_and_unused_ones_are_not(tmp_path):
    site = tmp_path / "lib" / "python3.11" / "site-packages"
    record = site / "ascendnpu_ir-1.2.0.dist-info" / "RECORD"
    record.parent.mkdir(parents=True)
    listed = ("bishengir-compile", "bishengir-compile-a5", *pins().unused)
    record.write_text("".join(f"ascendnpuir/bin/{name},sha256=x,1\n" for name in listed))
    programs = site / "ascendnpuir" / "bin"
    programs.mkdir(parents=True)
    (programs / "bishengir-compile").touch()
    assert install._missing_programs(tmp_path) == ["bishengir-compile-a5"]
    (programs / "bishengir-compile-a5").touch()
    assert install._missing_programs(tmp_path) == []


def test_pins_are_whole():
    for version, wheels in pins().compilers.items():
        assert [wheel.name for wheel in wheels] == ["triton-ascend", "pybind11", "ascendnpu-ir"]
        assert wheels[-1].version == version
        assert all(len(digest) == 64 and int(digest, 16) for wheel in wheels for digest in wheel.hashes)
    assert any(
        requirement.startswith("torch==") and requirement.endswith("+cpu") for requirement in pins().capture
    )


def test_an_unknown_version_names_the_known_ones(home):
    with pytest.raises(UserError, match=r"1\.0\.0, 1\.1\.0, 1\.2\.0"):
        install.install("7.7.7", lambda *_: None)


def test_no_fitting_python(monkeypatch, tmp_path):
    (tmp_path / "python3.11").write_text("#!/bin/sh\necho 3.12 cpython\n")
    (tmp_path / "python3.11").chmod(0o755)
    monkeypatch.setenv("PATH", str(tmp_path))
    monkeypatch.setattr(sys, "executable", str(tmp_path / "python3.11"))
    with pytest.raises(UserError, match=r"no CPython 3\.11 or 3\.10"):
        install.find_python()


def test_a_shim_that_does_not_run_is_passed_over(monkeypatch, tmp_path):
    for folder, body in (("shims", "exit 127"), ("real", "echo 3.10 cpython")):
        (tmp_path / folder).mkdir()
        program = tmp_path / folder / "python3.10"
        program.write_text(f"#!/bin/sh\n{body}\n")
        program.chmod(0o755)
    monkeypatch.setenv("PATH", f"{tmp_path / 'shims'}:{tmp_path / 'real'}")
    monkeypatch.setattr(sys, "executable", "/nowhere")
    assert install.find_python() == str(tmp_path / "real" / "python3.10")


@pytest.fixture
def base_python():
    try:
        return install.find_python()
    except UserError as error:
        pytest.skip(str(error))


def test_without_a_network_one_line_and_a_second_run_continues(home, monkeypatch, base_python):
    for name in ("PIP_FIND_LINKS", "PIP_EXTRA_INDEX_URL"):
        monkeypatch.delenv(name, raising=False)
    monkeypatch.setenv("PIP_CONFIG_FILE", "/dev/null")
    monkeypatch.setenv("PIP_INDEX_URL", "http://127.0.0.1:9/simple")
    monkeypatch.setenv("PIP_NO_CACHE_DIR", "1")
    steps: list[str] = []
    with pytest.raises(UserError) as caught:
        install.install(None, lambda step, *_: steps.append(step))
    assert "\n" not in str(caught.value)
    assert "no package index can be reached" in caught.value.message
    assert steps == ["environment", "compiler wheels"]
    assert toolchain_status().half == (pins().default,)
    made = (home / pins().default / "pyvenv.cfg").stat().st_mtime_ns
    with pytest.raises(UserError):
        install.install(None, lambda *_: None)
    assert (home / pins().default / "pyvenv.cfg").stat().st_mtime_ns == made, "the environment was made again"


def test_a_broken_environment_is_made_again(home, base_python, monkeypatch):
    own = home / pins().default / "bin" / "python"
    own.parent.mkdir(parents=True)
    own.write_text("#!/bin/sh\nexit 1\n")
    own.chmod(0o755)
    monkeypatch.setattr(install, "_pip", lambda *_: (_ for _ in ()).throw(UserError("stop here")))
    with pytest.raises(UserError, match="stop here"):
        install.install(None, lambda *_: None)
    assert install._version_of(str(own)) in pins().pythons
    assert not (home / pins().default / STAMP).exists()


def test_what_pip_says_becomes_one_line():
    wrong = (
        "ERROR: THESE PACKAGES DO NOT MATCH THE HASHES FROM THE REQUIREMENTS FILE. If you\n    x==1: Expected"
    )
    assert "pinned sha256" in install._pip_error(wrong).message
    missing = (
        "ERROR: Could not find a version that satisfies it\nERROR: No matching distribution found for torch"
    )
    assert install._pip_error(missing).message == "pip: No matching distribution found for torch"


def test_status_prints_facts(home):
    (home / "1.1.0").mkdir(parents=True)
    (home / "1.1.0" / STAMP).write_text(json.dumps({"megabytes": 12}))
    printed = CliRunner().invoke(toolchain_app, ["status", "--json"])
    facts = json.loads(printed.stdout)
    assert (facts["installed"], facts["megabytes"], facts["default"]) == (["1.1.0"], 12, "1.2.0")
    words = CliRunner().invoke(toolchain_app, ["status"]).stdout
    assert "ascendnpu-ir 1.1.0: installed" in words
    assert "`tritonport toolchain install` installs it" in words
