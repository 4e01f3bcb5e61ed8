"""The true compiler on small kernels, one of each kind of ending."""

from __future__ import annotations

from dataclasses import replace
from pathlib import PurePosixPath

import pytest

from tritonport.errors import UserError
from tritonport.npu.tier import run_npu_compile

from .conftest import KERNELS

pytestmark = pytest.mark.usefixtures("toolchain")


def run(source, **changes):
    given = {"out": None, "cases": None, "target": "a2", "jobs": 1, "toolchain": None}
    return run_npu_compile(source=source, progress=lambda *_: None, **{**given, **changes})


def ending(report):
    """The one kernel's figures and its one message, with the source line that the message names."""
    assert report.status == "ran", report.why
    (entry,) = report.kernels.values()
    (message,) = report.messages
    text = (KERNELS / message.file).read_text().splitlines()[message.line - 1].strip()
    return entry["cases"][0]["before"], message, text


def test_a_kernel_that_fits(lone_kernel):
    report = run(lone_kernel("fits"))
    first, many = report.kernels["fits:double"]["cases"]
    assert first["case"] == "fits"
    # one tile of 1024 float32, doubled in place
    assert first["before"]["ub_percent"] == pytest.approx(100 * 1024 * 32 / 1572864, abs=0.05)
    assert first["before"]["fits"] is True
    assert first["before"]["error"] is None
    assert first["before"]["programs"] == 5
    assert first["before"]["kernels"] == 1
    assert first["before"]["scalar_iterations"] == 0
    assert first["before"]["sub_block"] == "none"
    assert first["after"] is None
    assert many["case"] == "fits/make_many_inputs"


def test_a_grid_over_the_limit_which_the_compiler_never_sees(lone_kernel):
    report = run(lone_kernel("fits"), cases=["fits/make_many_inputs"])
    (case,) = report.kernels["fits:double"]["cases"]
    assert case["before"]["fits"] is True
    assert case["before"]["programs"] == 70000
    assert "70000 programs" in case["before"]["error"]
    assert [message.kind for message in report.messages] == ["grid"]


@pytest.mark.parametrize(
    ("kernel", "memory", "bits", "limit"),
    [
        ("ub_overflow", "UB", 2 * 2097152, 1572864),  # x and y live together
        ("l1_overflow", "L1", (128 * 1024 + 1024 * 256) * 16, 4194304),  # both operands
        ("l0c_overflow", "L0C", 256 * 256 * 32, 1048576),  # the float32 result
    ],
)
def test_overflow_of_each_memory(lone_kernel, kernel, memory, bits, limit):
    report = run(lone_kernel(kernel))
    figures, message, _ = ending(report)
    assert message.kind == "overflow"
    assert message.text == f"{memory} overflow, requires {bits} bits while {limit} bits available"
    assert figures["fits"] is False
    assert figures[f"{memory.lower()}_percent"] == pytest.approx(100 * bits / limit, abs=0.05)
    assert figures["scalar_iterations"] is None


def test_overflow_shows_the_largest_buffers_with_their_lines(lone_kernel):
    report = run(lone_kernel("ub_overflow"))
    _, _, text = ending(report)
    assert "tl.load(x_ptr" in text
    (detail,) = report.details.values()
    (measurement,) = detail.measurements
    assert [buffer.bits for buffer in measurement.largest_buffers] == [2097152, 2097152]
    assert {buffer.type for buffer in measurement.largest_buffers} == {"65536xf32"}
    lines = (KERNELS / "ub_overflow.py").read_text().splitlines()
    assert all("tl.load" in lines[buffer.line - 1] for buffer in measurement.largest_buffers)


def test_a_legalisation_failure_at_its_line(lone_kernel):
    figures, message, text = ending(run(lone_kernel("ticket")))
    assert message.kind == "legalisation"
    assert "tl.atomic_add" in text
    assert figures["fits"] is None


def test_a_crash_at_its_kernel(lone_kernel):
    figures, message, text = ending(run(lone_kernel("double_precision")))
    assert message.kind == "crash"
    assert "SIGABRT" in message.text
    assert text.startswith("def total(")
    assert figures["fits"] is None


def test_a_front_end_error_inside_a_helper_at_the_helpers_line(lone_kernel):
    _, message, text = ending(run(lone_kernel("front_end")))
    assert message.kind == "front-end"
    assert "`other` cannot be provided without `mask`" in message.text
    assert text.startswith("return tl.load(")


def test_the_same_answer_twice_without_a_cache(lone_kernel, tmp_path, monkeypatch):
    digests = []
    for name in ("first", "second"):
        monkeypatch.setattr("tritonport.npu.cache.cache_folder", lambda name=name: tmp_path / name)
        report = run(lone_kernel("fits"))
        digests.append([m.ir_digest for detail in report.details.values() for m in detail.measurements])
    assert digests[0] == digests[1]
    assert all(digest for digest in digests[0])


def test_a_second_run_compiles_nothing(lone_kernel, monkeypatch):
    first = run(lone_kernel("fits"))
    monkeypatch.setattr("tritonport.npu.tier.compile_unit", lambda *_: pytest.fail("compiled again"))
    monkeypatch.setattr("tritonport.npu.capture.process.run", lambda *_: pytest.fail("captured again"))
    assert run(lone_kernel("fits")).kernels == first.kernels


def test_a_module_without_launch_is_not_run_with_the_reason(tmp_path, lone_kernel):
    source = lone_kernel("fits")
    (tmp_path / "plain.py").write_text("import triton\n")
    report = run(replace(source, root=tmp_path, entry=PurePosixPath("plain.py")))
    assert report.status == "not-run"
    assert "no case launches a kernel" in report.why


def test_host_code_that_raises_is_the_reason(tmp_path, lone_kernel):
    (tmp_path / "bad.py").write_text(
        "def make_inputs(device): return {}\ndef launch(): raise OSError('no disk')\n"
    )
    report = run(replace(lone_kernel("fits"), root=tmp_path, entry=PurePosixPath("bad.py")))
    assert report.status == "not-run"
    assert "no disk" in report.why


def test_unknown_names_are_usage_errors(lone_kernel):
    with pytest.raises(UserError, match="unknown target 'a9'"):
        run(lone_kernel("fits"), target="a9")


def test_ascend_950_has_a_compiler_of_its_own(lone_kernel):
    """Its unified buffer is larger; loops and transfers are not counted in its form of the result."""
    report = run(lone_kernel("fits"), target="a5")
    assert report.status == "ran", report.why
    (entry,) = report.kernels.values()
    few, many = (case["before"] for case in entry["cases"])
    assert few["ub_percent"] == pytest.approx(100 * 1024 * 32 / 2031616, abs=0.05)
    assert few["scalar_iterations"] is None
    assert (many["programs"], many["error"]) == (70000, None)  # the run time folds large grids there
    assert report.toolchain["arch"] == "Ascend950PR_9579"


def test_overflow_on_ascend_950(lone_kernel):
    before, message, text = ending(run(lone_kernel("ub_overflow"), target="a5"))
    assert before["fits"] is False
    assert (message.kind, "while 2031616 bits available" in message.text) == ("overflow", True)
    assert text


def test_a_toolchain_without_the_targets_compiler_is_not_run(lone_kernel, toolchain, tmp_path):
    (tmp_path / "bishengir-compile").symlink_to(toolchain.bishengir)
    report = run(lone_kernel("fits"), target="a5", toolchain=tmp_path)
    assert report.status == "not-run"
    assert "no bishengir-compile-a5" in report.why
