"""The report in words."""

from __future__ import annotations

import pytest

from tritonport.npu.text import lines
from tritonport.npu.tier import NpuReport, run_npu_compile


def run(source):
    return run_npu_compile(
        source=source, out=None, cases=None, target="a2", jobs=1, toolchain=None, progress=lambda *_: None
    )


@pytest.mark.usefixtures("toolchain")
def test_who_fits_and_who_does_not_and_why(lone_kernel):
    head, figures, message, *buffers = lines(run(lone_kernel("ub_overflow")))
    assert head == "npu-compile: triton-ascend 3.2.0, ascendnpu-ir 1.2.0, Ascend910B3"
    assert figures.startswith("does not fit   ub_overflow:add [ub_overflow]  UB 266.7 %")
    assert "scalar ?" in figures
    assert message.startswith("ub_overflow.py:")
    assert [line.split()[0] for line in buffers] == ["2097152", "2097152"]
    assert all("65536xf32  ub_overflow.py:" in line for line in buffers)
    _, fits, many, said = lines(run(lone_kernel("fits")))
    assert fits.startswith("fits  ")
    assert many.startswith("does not pass")
    assert "70000 programs" in said


def test_a_tier_that_did_not_run_is_one_line():
    facts = {"triton_ascend": None, "ascendnpu_ir": None, "arch": "Ascend910B3"}
    assert lines(NpuReport(facts, "not-run", "no compiler", "a2")) == ("npu-compile: not run: no compiler",)
