"""The GPU tier's own code without a GPU: its `interpreter` device goes through the same workers, sides and counts."""

from __future__ import annotations

import importlib.util
from pathlib import Path

import pytest

from tests.verify.tiny_package import CONTROL, Fault, Tiny, build
from tritonport.errors import UserError
from tritonport.verify.device.probe import look_for, parse_device
from tritonport.verify.device.settings import DeviceSetup
from tritonport.verify.device.summary import operators, rows, summary
from tritonport.verify.device.tier import GPU, run_gpu
from tritonport.verify.model import KernelTarget, TierReport

torch = pytest.importorskip("torch")

DRY = DeviceSetup("interpreter", cores=(0, 7), timed=1)
SECOND = Fault(
    "second launch", "return o", "gram.n = getattr(gram, 'n', 0) + 1\nreturn o + (gram.n % 2 == 0)"
)
TWICE = Fault(
    "launched twice",
    "return o",
    "on_cube_cores(gram_kernel)[(1, 1)](x, g, o, s.clone(), cu, table, T, scale, H=H, HV=HV, D=D, "
    "BT=chunk, IS_VARLEN=cu is not None, tasks_0=1, tasks_1=1)\nreturn o",
)
FAULTS = (CONTROL, Fault("last task dropped", "range(start, stop)", "range(start, stop - 1)"), SECOND, TWICE)


def run(tiny: Tiny, *kernels: KernelTarget) -> TierReport:
    return run_gpu(
        source=tiny.source,
        out=tiny.out,
        kernels=kernels or tuple(tiny.targets.values()),
        cases=tiny.cases,
        progress=lambda *_: None,
        settings=DRY,
    )


@pytest.fixture(scope="module")
def report(tmp_path_factory: pytest.TempPathFactory) -> TierReport:
    return run(build(tmp_path_factory.mktemp("gpu"), FAULTS))


def test_right_code_passes_bit_for_bit_at_every_number_of_programs(report: TierReport) -> None:
    verdict, case = report.kernels[0], report.cases[0]
    assert (verdict.result, verdict.reasons) == ("pass", ())
    assert verdict.bitwise
    assert verdict.launches_before == verdict.launches_after == 3
    assert {host.cores for host in case.hosts} == {(3, 7)}
    assert len(case.hosts) == verdict.host_calls == 3


def test_what_ran_is_told(report: TierReport) -> None:
    assert report.versions["device"] == "cpu, Triton's interpreter"
    assert set(report.versions) >= {"device", "torch", "triton"}
    (whole,) = (t for t in report.cases[0].times if t.kernel == "whole operator")
    (kernel,) = (t for t in report.cases[0].times if t.kernel == "tiny.gram_00:gram_kernel")
    assert whole.before is not None and kernel.before is not None
    assert 0 < kernel.after <= whole.after
    assert 0 < kernel.before <= whole.before


@pytest.mark.parametrize("number", range(1, len(FAULTS)), ids=[fault.name for fault in FAULTS[1:]])
def test_a_fault_fails_and_is_not_timed(report: TierReport, number: int) -> None:
    verdict = report.kernels[number]
    assert verdict.result == "fail"
    assert verdict.reasons
    assert not verdict.bitwise


def test_a_first_launch_that_is_right_excuses_no_later_one(report: TierReport) -> None:
    case = report.cases[FAULTS.index(SECOND)]
    checks = [check for host in case.hosts for check in host.checks]
    wrong = [check for check in checks if not check.ok]
    assert {check.against for check in wrong} == {"first launch"}
    assert all("launch 2" in check.what for check in wrong)
    assert len(wrong) == 6  # three calls, two numbers of programs


def test_a_launch_too_many_is_counted(report: TierReport) -> None:
    assert any("launched 6 times where the original launches 3" in r for r in report.kernels[3].reasons)


def test_the_summary_says_bits_error_and_time(report: TierReport) -> None:
    control, dropped, *_ = rows(report)
    assert control.bitwise and control.error == 0.0
    assert control.ratio == pytest.approx(control.after / control.before)
    assert not dropped.bitwise and dropped.ratio is None
    timed = [case for case, *_ in operators(report)]
    assert "control" in timed and "last task dropped" not in timed
    lines = summary(report)
    assert any(line.startswith("tiny.gram_00:gram_kernel: pass, bit for bit, ") for line in lines)


@pytest.mark.skipif(torch.cuda.is_available(), reason="there is a CUDA device here")
def test_without_a_gpu_the_tier_is_not_run_and_says_why(tmp_path: Path) -> None:
    tiny = build(tmp_path, [CONTROL])
    absent = run_gpu(
        source=tiny.source,
        out=tiny.out,
        kernels=tuple(tiny.targets.values()),
        cases=tiny.cases,
        progress=lambda *_: None,
    )
    assert absent.result == absent.kernels[0].result == "not-run"
    assert absent.why is not None and "CUDA" in absent.why and "\n" not in absent.why
    assert absent.kernels[0].reasons == (absent.why,)
    assert summary(absent) == []


def test_without_cases_the_tier_is_not_run(tmp_path: Path) -> None:
    tiny = build(tmp_path, [CONTROL])
    nothing = run_gpu(
        source=tiny.source, out=tiny.out, kernels=(), cases=None, progress=lambda *_: None, settings=DRY
    )
    assert nothing.result == "not-run"
    assert "--cases" in str(nothing.why)


def test_a_gpu_runs_the_first_launch_another_and_more_programs_than_processors() -> None:
    assert GPU.repeats >= 2
    assert 0 in GPU.cores and max(GPU.cores) > 4096 and any(count % 2 for count in GPU.cores)
    assert GPU.comparable


@pytest.mark.skipif(importlib.util.find_spec("torch_npu") is not None, reason="torch_npu is here")
def test_what_is_missing_for_an_npu_is_named() -> None:
    assert look_for("npu", 0).why == "torch-npu is not installed"


def test_devices_are_named_by_kind_and_number() -> None:
    assert parse_device("cuda") == ("cuda", 0)
    assert parse_device("npu:3") == ("npu", 3)
    for wrong in ("gpu", "cuda:", "cuda:x", "npu:-1", "interpreter"):
        with pytest.raises(UserError, match="unknown device"):
            parse_device(wrong)
