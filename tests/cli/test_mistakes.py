"""Whatever is wrong with the input: one clear line on stderr, exit 2, and nothing left behind."""

from __future__ import annotations

import ctypes
import json
import os
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path

import pytest

from tests.support.cli import KERNEL, ODD_KERNEL, contents, in_process, package, tritonport

CAP_DAC_OVERRIDE, PR_CAPBSET_DROP = 1, 24
BROKEN = "def half(:\n"


def good(folder: Path) -> Path:
    """A package with one kernel, to be migrated where the mistake is elsewhere."""
    return package(folder / "demo", rows=KERNEL)


def no_such_path(folder: Path) -> list[str]:
    return ["migrate", "missing/thing.py", "-o", "out"]


def not_python(folder: Path) -> list[str]:
    (folder / "notes.txt").write_text(KERNEL)
    return ["migrate", "notes.txt", "-o", "out"]


def folder_without_python(folder: Path) -> list[str]:
    (folder / "empty").mkdir()
    return ["migrate", "empty", "-o", "out"]


def syntax_error(folder: Path) -> list[str]:
    package(folder / "demo", rows=KERNEL, torn=f"import math\n{BROKEN}")
    return ["migrate", "demo", "-o", "out"]


def not_utf8(folder: Path) -> list[str]:
    (good(folder) / "latin.py").write_bytes("# caf\u00e9\n".encode("latin-1"))
    return ["migrate", "demo", "-o", "out"]


def undecodable_name_of_coding(folder: Path) -> list[str]:
    (good(folder) / "odd.py").write_bytes(b"# coding: no-such-coding\n")
    return ["migrate", "demo", "-o", "out"]


def output_inside_sources(folder: Path) -> list[str]:
    good(folder)
    return ["migrate", "demo", "-o", "demo/out"]


def output_holds_sources(folder: Path) -> list[str]:
    good(folder)
    return ["migrate", "demo", "-o", "."]


def foreign_output(folder: Path) -> list[str]:
    good(folder)
    package(folder / "mine")
    return ["migrate", "demo", "-o", "mine"]


def output_is_a_file(folder: Path) -> list[str]:
    good(folder)
    (folder / "out").write_text("precious")
    return ["migrate", "demo", "-o", "out"]


def read_only_folder(folder: Path) -> list[str]:
    good(folder)
    (folder / "shelf").mkdir(mode=0o555)
    return ["migrate", "demo", "-o", "shelf/out"]


def configuration(text: str) -> Callable[[Path], list[str]]:
    def build(folder: Path) -> list[str]:
        good(folder)
        (folder / "tritonport.toml").write_text(text)
        return ["migrate", "demo", "-o", "out"]

    return build


def project(folder: Path) -> list[str]:
    good(folder)
    (folder / "pyproject.toml").write_text(
        '[project]\nname = "x"\n\n[tool.tritonport]\nshedule = "contiguous"\n'
    )
    return ["migrate", "demo", "-o", "out"]


def arguments(*more: str) -> Callable[[Path], list[str]]:
    def build(folder: Path) -> list[str]:
        good(folder)
        return ["migrate", "demo", "-o", "out", *more]

    return build


def no_kernel(folder: Path) -> list[str]:
    package(folder / "demo", plain="x = 1\n")
    return ["migrate", "demo", "-o", "out"]


def no_kernel_in_a_plain_folder(folder: Path) -> list[str]:
    (folder / "plain").mkdir()
    (folder / "plain" / "one.py").write_text("x = 1\n")
    return ["migrate", "plain", "-o", "out"]


def module_named_as_the_helpers(folder: Path) -> list[str]:
    package(folder / "demo", tritonport_runtime=KERNEL)
    return ["migrate", "demo", "-o", "out"]


def beside_a_module_named_as_the_helpers(folder: Path) -> list[str]:
    package(folder / "demo", rows=KERNEL, tritonport_runtime="limit = 3\n")
    return ["migrate", "demo/rows.py", "-o", "out"]


def lone_file_named_as_the_activation(folder: Path) -> list[str]:
    (folder / "activate.py").write_text(KERNEL)
    return ["migrate", "activate.py", "-o", "out"]


def package_named_as_the_activation(folder: Path) -> list[str]:
    package(folder / "activate", rows=KERNEL)
    return ["migrate", "activate", "-o", "out"]


def own_output(folder: Path) -> list[str]:
    made = in_process("migrate", good(folder), "-o", "made", cwd=folder)
    assert made.returncode == 0, made.stderr
    return ["migrate", "made", "-o", "out"]


def plan_with_a_wrong_toolchain(folder: Path) -> list[str]:
    good(folder)
    return ["plan", "demo", "--npu-compile", "--toolchain", "nowhere"]


def no_output_named(folder: Path) -> list[str]:
    good(folder)
    return ["migrate", "demo"]


MISTAKES: dict[Callable[[Path], list[str]], tuple[str, ...]] = {
    no_such_path: ("missing/thing.py",),
    not_python: ("notes.txt", "not a Python file"),
    folder_without_python: ("empty", "no Python file"),
    syntax_error: ("demo/torn.py:2", "syntax error"),
    not_utf8: ("demo/latin.py", "not UTF-8"),
    undecodable_name_of_coding: ("demo/odd.py", "no-such-coding"),
    no_kernel: ("demo", "no Triton kernel"),
    no_kernel_in_a_plain_folder: ("plain:", "no Triton kernel"),
    module_named_as_the_helpers: ("demo/tritonport_runtime.py: ", "rename"),
    beside_a_module_named_as_the_helpers: ("demo/tritonport_runtime.py: ", "rename"),
    lone_file_named_as_the_activation: ("activate.py: ", "rename"),
    package_named_as_the_activation: ("activate.py: ", "rename"),
    own_output: ("made", "migrated these sources already"),
    output_inside_sources: ("demo/out", "inside the source tree"),
    output_holds_sources: ("source tree",),
    foreign_output: ("mine", "tritonport did not make it"),
    output_is_a_file: ("out is a file",),
    read_only_folder: ("shelf", "permission"),
    no_output_named: ("--out",),
    plan_with_a_wrong_toolchain: ("--toolchain", "nowhere"),
}
TEXTS: dict[str, tuple[Callable[[Path], list[str]], tuple[str, ...]]] = {
    "rule_in_configuration": (
        configuration('target = "a2"\nignore = ["grid-colapse"]\n'),
        ("tritonport.toml:2", "grid-colapse"),
    ),
    "option_in_configuration": (
        configuration('\ntargett = "a2"\n'),
        ("tritonport.toml:2", "'targett'", "target"),
    ),
    "value_in_configuration": (configuration("jobs = 0\n"), ("tritonport.toml:1", "jobs")),
    "type_in_configuration": (configuration("target = []\n"), ("tritonport.toml:1", "target")),
    "configuration_is_not_toml": (configuration("target =\n"), ("tritonport.toml:1", "TOML")),
    "option_in_pyproject": (project, ("pyproject.toml:5", "'shedule'")),
    "target": (arguments("--target", "h100"), ("h100", "a2")),
    "profile": (arguments("--profile", "fastest"), ("fastest", "baseline")),
    "schedule": (arguments("--schedule", "random"), ("random", "contiguous")),
    "tier": (arguments("--verify", "magic"), ("magic", "interpret")),
    "report": (arguments("--report", "pdf=run.pdf"), ("pdf=run.pdf", "json")),
    "report_folder": (arguments("--report", "json=nowhere/run.json"), ("nowhere/run.json",)),
    "format": (arguments("--format", "xml"), ("xml", "json")),
    "jobs": (arguments("--jobs", "0"), ("--jobs",)),
    "option": (arguments("--frobnicate"), ("--frobnicate",)),
    "release": (arguments("--from", "fla-core>=0.4"), ("fla-core>=0.4", "==")),
    "toolchain": (arguments("--verify", "npu-compile", "--toolchain", "nowhere"), ("--toolchain", "nowhere")),
    "cases": (arguments("--verify", "interpret", "--cases", "absent.py"), ("absent.py",)),
}
ALL = {**{build.__name__: (build, says) for build, says in MISTAKES.items()}, **TEXTS}


def bound_by_permissions() -> None:
    """Takes from root, in the child, what lets it write where nobody may."""
    ctypes.CDLL(None).prctl(PR_CAPBSET_DROP, CAP_DAC_OVERRIDE)


@pytest.mark.parametrize("mistake", ALL)
def test_a_mistake_is_one_line_and_leaves_nothing(tmp_path: Path, mistake: str) -> None:
    build, says = ALL[mistake]
    args = build(tmp_path)
    before = contents(tmp_path)
    done = tritonport(*args, cwd=tmp_path, before=bound_by_permissions)
    assert done.returncode == 2, done.stderr
    assert done.stdout == ""
    assert len(done.stderr.splitlines()) == 1, done.stderr
    for text in ("tritonport: ", *says):
        assert text in done.stderr
    assert "internal error" not in done.stderr
    assert contents(tmp_path) == before


def test_plan_names_the_broken_file_and_reports_the_others(tmp_path: Path) -> None:
    package(tmp_path / "demo", rows=KERNEL, torn=BROKEN)
    done = tritonport("plan", "demo", "--format", "json", cwd=tmp_path)
    assert done.returncode == 2
    assert done.stderr.splitlines() == ["tritonport: demo/torn.py:1: syntax error: invalid syntax"]
    plan = json.loads(done.stdout)
    assert [kernel["name"] for kernel in plan["kernels"]] == ["demo.rows:double_rows"]
    assert [problem["file"] for problem in plan["problems"]] == ["demo/torn.py"]


def test_a_grid_that_cannot_be_understood_leaves_one_kernel_as_it_is(tmp_path: Path) -> None:
    odd = ODD_KERNEL.replace("[src.shape]", "[GRIDS[src.ndim]]")
    package(
        tmp_path / "demo",
        rows=KERNEL,
        odd=odd.replace("import torch", "from demo.grids import GRIDS\nimport torch"),
    )
    (tmp_path / "demo" / "grids.py").write_text("import somewhere\n\nGRIDS = somewhere.grids()\n")
    done = tritonport("migrate", "demo", "-o", "out", "--report", "json=run.json", cwd=tmp_path)
    assert done.returncode == 1, done.stderr
    kernels = {k["name"]: k for k in json.loads((tmp_path / "run.json").read_text())["kernels"]}
    assert {name: k["outcome"] for name, k in kernels.items()} == {
        "demo.rows:double_rows": "converted",
        "demo.odd:odd_rows": "not-converted",
    }
    (item,) = kernels["demo.odd:odd_rows"]["unresolved"]
    assert (item["slug"], item["file"]) == ("grid-collapse", "demo/odd.py")
    assert "GRIDS" in item["why"]
    assert done.stdout.splitlines()[0].startswith("not-converted")
    assert (tmp_path / "out" / "demo" / "rows.py").is_file()
    assert not (tmp_path / "out" / "demo" / "odd.py").exists()


def test_interrupted_while_it_starts(tmp_path: Path) -> None:
    """The interrupt comes with the first import of a library, as if somebody pressed Ctrl-C at once."""
    (tmp_path / "typer.py").write_text("raise KeyboardInterrupt\n")
    done = subprocess.run(
        [sys.executable, "-m", "tritonport", "doctor"],
        env={**os.environ, "PYTHONPATH": str(tmp_path)},
        capture_output=True,
        text=True,
        check=False,
    )
    assert (done.returncode, done.stdout) == (130, "")
    assert done.stderr == "tritonport: interrupted, the previous output is whole\n"
