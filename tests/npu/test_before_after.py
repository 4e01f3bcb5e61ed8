"""Both sides of one package: the original, and a migrated tree that imports over it."""

from __future__ import annotations

from pathlib import Path, PurePosixPath

import pytest

from tests.support.cases import OWN
from tests.support.migrated import migrate
from tritonport.engine.linemap import Origin
from tritonport.npu.tier import run_npu_compile
from tritonport.sources import resolve
from tritonport.sources.tree import SourceTree

pytestmark = pytest.mark.usefixtures("toolchain")

HEAD = """\
import torch
import triton
import triton.language as tl
from triton.runtime import driver


"""

ORIGINAL = (
    HEAD
    + """\
@triton.jit
def scale(x_ptr, y_ptr, COLS: tl.constexpr):
    place = tl.program_id(0) * COLS + tl.arange(0, COLS)
    tl.store(y_ptr + place, tl.load(x_ptr + place) * 2.0)


def make_inputs(device):
    return {"x": torch.zeros(300, 128, device=device)}


def launch(x):
    y = torch.empty_like(x)
    scale[(x.shape[0],)](x, y, COLS=x.shape[1])
    return y
"""
)

PERSISTENT = (
    HEAD
    + """\
@triton.jit
def scale_body(row, x_ptr, y_ptr, COLS: tl.constexpr):
    place = row * COLS + tl.arange(0, COLS)
    tl.store(y_ptr + place, tl.load(x_ptr + place) * 2.0)


@triton.jit
def scale(x_ptr, y_ptr, COLS: tl.constexpr, tasks):
    for task in range(tl.program_id(0), tasks, tl.num_programs(0)):
        scale_body(task, x_ptr, y_ptr, COLS)


def make_inputs(device):
    return {"x": torch.zeros(300, 128, device=device)}


def launch(x):
    y = torch.empty_like(x)
    assert torch.npu.is_available()
    cores = driver.active.utils.get_device_properties(torch.npu.current_device())["num_vectorcore"]
    scale[(min(x.shape[0], cores),)](x, y, x.shape[1], x.shape[0])
    return y
"""
)

ACTIVATE = """\
import importlib.util
import pathlib
import sys


class Finder:
    def find_spec(self, name, path=None, target=None):
        file = pathlib.Path(__file__).parent.joinpath(*name.split(".")).with_suffix(".py")
        return importlib.util.spec_from_file_location(name, file) if file.is_file() else None


sys.meta_path.insert(0, Finder())
"""


@pytest.fixture
def package(tmp_path: Path) -> SourceTree:
    folder = tmp_path / "source" / "pkg"
    folder.mkdir(parents=True)
    (folder / "__init__.py").write_text("")
    (folder / "ops.py").write_text(ORIGINAL)
    return SourceTree(tmp_path / "source", "pkg", PurePosixPath("pkg/ops.py"))


def migrated(tmp_path: Path, text: str) -> Path:
    out = tmp_path / "out"
    (out / "pkg").mkdir(parents=True)
    (out / "pkg" / "ops.py").write_text(text)
    (out / "activate.py").write_text(ACTIVATE)
    return out


def run(source: SourceTree, out: Path, **more):
    return run_npu_compile(
        source=source,
        out=out,
        cases=None,
        target="a2",
        jobs=2,
        toolchain=None,
        progress=lambda *_: None,
        **more,
    )


def test_a_persistent_kernel_runs_on_the_cores_of_the_chip(package, tmp_path):
    report = run(package, migrated(tmp_path, PERSISTENT))
    (case,) = report.kernels["pkg.ops:scale"]["cases"]
    assert case["before"]["programs"] == 300
    assert case["after"]["programs"] == 40  # vector cores of an Ascend910B3
    assert case["after"]["fits"] is True
    assert report.refused() == ()
    assert report.result("pkg.ops:scale") == "pass"
    assert report.kernels["pkg.ops:scale"]["toolchain"] == {
        "triton_ascend": "3.2.0",
        "ascendnpu_ir": "1.2.0",
        "arch": "Ascend910B3",
    }


def test_a_file_whose_name_is_no_identifier_and_an_output_by_a_relative_path(tmp_path, monkeypatch):
    (tmp_path / "source").mkdir()
    (tmp_path / "source" / "07_scale.py").write_text(ORIGINAL)
    (tmp_path / "out").mkdir()
    (tmp_path / "out" / "07_scale.py").write_text(PERSISTENT)
    (tmp_path / "out" / "activate.py").write_text("")
    monkeypatch.chdir(tmp_path)
    report = run(SourceTree(tmp_path / "source", None, PurePosixPath("07_scale.py")), Path("out"))
    (case,) = report.kernels["07_scale:scale"]["cases"]
    assert (case["before"]["programs"], case["after"]["programs"]) == (300, 40)
    assert report.refused() == ()


def test_host_code_of_ones_own_that_raised_is_asked_again(tmp_path):
    (tmp_path / "source").mkdir()
    (tmp_path / "source" / "scale.py").write_text(f"import missing_here\n{ORIGINAL}")
    source = SourceTree(tmp_path / "source", None, PurePosixPath("scale.py"))
    report = run(source, None)
    assert "missing_here" in (report.why or "")
    (tmp_path / "source" / "missing_here").mkdir()  # a module of it that is no source: the digest stays
    report = run(source, None)
    assert report.status == "ran"


def test_a_product_in_a_kernel_that_asks_for_no_program_id_compiles(tmp_path):
    """In a loop over tasks that are all the same the compiler did not end."""
    source = resolve(str(OWN / "one_program.py"))
    out = migrate(source, tmp_path / "out").out
    report = run(source, out, seconds=60.0)
    assert [str(message) for message in report.refused()] == []
    assert report.result("one_program:project") == "pass"


def test_a_migrated_kernel_that_does_not_fit_comes_home(package, tmp_path):
    too_large = PERSISTENT.replace("* 2.0)", "* tl.load(x_ptr + place + 1))").replace(
        "300, 128", "300, 65536"
    )
    out = migrated(tmp_path, too_large)
    lines = too_large.splitlines()
    origins = {"pkg/ops.py": tuple(Origin(number + 100, ("some-rule",)) for number in range(len(lines)))}
    report = run(package, out, origins=origins)
    (message,) = report.refused()
    assert message.kind == "overflow"
    assert message.file == "pkg/ops.py"
    assert "tl.load" in lines[message.line - 1]
    assert (message.upstream_line, message.rules) == (message.line + 99, ("some-rule",))
    assert str(message).startswith(f"pkg/ops.py:{message.line}: UB overflow, requires ")
    assert f"upstream line {message.line + 99}; written by some-rule; kernel scale" in str(message)
    assert report.result("pkg.ops:scale") == "fail"
    (case,) = report.kernels["pkg.ops:scale"]["cases"]
    assert (case["before"]["fits"], case["after"]["fits"]) == (True, False)


def test_migrated_host_code_that_raises_is_refused_not_passed(package, tmp_path):
    broken = PERSISTENT.replace("y = torch.empty_like(x)", "raise KeyError('grid_0')")
    report = run(package, migrated(tmp_path, broken))
    (message,) = report.refused()
    assert "KeyError: 'grid_0'" in message.text
    (case,) = report.kernels["pkg.ops:scale"]["cases"]
    assert case["after"] is None
    assert report.result("pkg.ops:scale") == "not-run"


def test_a_migrated_tree_that_cannot_be_activated_is_the_reason(package, tmp_path):
    out = migrated(tmp_path, PERSISTENT)
    (out / "activate.py").write_text("raise ImportError('half written')\n")
    report = run(package, out)
    assert report.status == "not-run"
    assert "half written" in report.why


def test_a_launch_option_that_the_run_time_does_not_know(package, tmp_path):
    strange = PERSISTENT.replace("x.shape[1], x.shape[0])", "x.shape[1], x.shape[0], turbo=True)")
    report = run(package, migrated(tmp_path, strange))
    (message,) = report.refused()
    assert message.kind == "option"
    assert "'turbo'" in message.text


def test_an_unchanged_kernel_is_compiled_once_for_both_sides(package, tmp_path, monkeypatch):
    from tritonport.npu import tier

    compiled: list[str] = []
    real = tier.compile_unit

    def counting(toolchain, setting, unit):
        compiled.append(unit.kernel)
        return real(toolchain, setting, unit)

    monkeypatch.setattr(tier, "compile_unit", counting)
    report = run(package, migrated(tmp_path, ORIGINAL))
    assert compiled == ["pkg.ops:scale"]
    (case,) = report.kernels["pkg.ops:scale"]["cases"]
    assert case["before"] == case["after"]
