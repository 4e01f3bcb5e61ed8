"""The npu-run tier up to the device's border: tests/verify/stub_npu stands for torch_npu and triton-ascend."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import pytest

from tests.verify.test_gpu import SECOND
from tests.verify.tiny_package import Fault, case_of, out_with, upstream_tree
from tritonport.sources.tree import SourceTree
from tritonport.verify.device.probe import look_for
from tritonport.verify.device.tier import GOLDENS_WANTED, NPU, run_npu
from tritonport.verify.goldens import record
from tritonport.verify.model import KernelTarget, TierReport

pytest.importorskip("torch")
STUB = Path(__file__).parent / "stub_npu"
KERNEL = KernelTarget("tiny.gram:gram_kernel")


@pytest.fixture(autouse=True)
def stub(monkeypatch: pytest.MonkeyPatch) -> None:
    """Processes that the tests start find the stub; this one imports nothing of it."""
    monkeypatch.setenv("PYTHONPATH", str(STUB))


@pytest.fixture(scope="module")
def source(tmp_path_factory: pytest.TempPathFactory) -> SourceTree:
    return upstream_tree(tmp_path_factory.mktemp("upstream"))


@pytest.fixture(scope="module")
def goldens(source: SourceTree, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Recorded in the interpreter, as an owner of an NPU would on a machine without one."""
    folder = tmp_path_factory.mktemp("goldens") / "g"
    assert record(source, case_of(source), folder, 1, lambda *_: None) == 1
    return folder


def run(
    source: SourceTree, goldens: Path | None, folder: Path, fault: Fault, *, index: int = 0
) -> TierReport:
    return run_npu(
        source=source,
        out=out_with(folder, fault),
        kernels=[KERNEL],
        progress=lambda *_: None,
        goldens=goldens,
        index=index,
        settings=replace(NPU, repeats=3),
    )


def test_right_code_passes_within_the_tolerance(source: SourceTree, goldens: Path, tmp_path: Path) -> None:
    report = run(source, goldens, tmp_path, Fault("none"))
    verdict, case = report.kernels[0], report.cases[0]
    assert (report.tier, report.result) == ("npu-run", "pass"), verdict.reasons
    assert verdict.launches_after == verdict.launches_before == 3
    assert verdict.host_calls == 3
    assert case.cores == 40  # vector cores of the stub: nothing forces a number
    compared = [check for host in case.hosts for check in host.checks if check.against == "original"]
    assert compared and all(check.source != "exact rules: bit for bit" for check in compared if check.bound)
    assert any("launches 2 to 3" in check.what for host in case.hosts for check in host.checks)
    assert report.versions["device"] == "Ascend910B4 (stub)"
    assert (report.versions["num_aicores"], report.versions["num_vectorcores"]) == ("20", "40")
    assert "Triton's interpreter" in report.versions["goldens"]


def test_wrong_code_fails(source: SourceTree, goldens: Path, tmp_path: Path) -> None:
    report = run(source, goldens, tmp_path, Fault("heads", "i_h // (HV // H)", "i_h % H"))
    assert report.result == "fail"
    assert any("relative error" in reason for reason in report.kernels[0].reasons)


@pytest.mark.slow
def test_a_later_launch_that_differs_fails(source: SourceTree, goldens: Path, tmp_path: Path) -> None:
    report = run(source, goldens, tmp_path, SECOND)
    assert report.result == "fail"
    wrong = [check for host in report.cases[0].hosts for check in host.checks if not check.ok]
    assert "first launch" in {check.against for check in wrong}


def test_ten_launches_are_the_rule() -> None:
    assert NPU.repeats == 10
    assert NPU.cores == (0,)
    assert not NPU.comparable


def test_without_goldens_the_tier_is_not_run_and_says_how_to_get_them(
    source: SourceTree, tmp_path: Path
) -> None:
    report = run(source, None, tmp_path, Fault("none"))
    assert (report.result, report.why) == ("not-run", GOLDENS_WANTED)
    assert "--record" in GOLDENS_WANTED and "--replay" in GOLDENS_WANTED


@pytest.mark.parametrize(
    ("variable", "why"),
    [("STUB_NPU", "torch_npu finds no NPU"), ("STUB_TRITON_ASCEND", "triton-ascend is not installed")],
)
def test_what_is_missing_leaves_the_tier_not_run(
    source: SourceTree,
    goldens: Path,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    variable: str,
    why: str,
) -> None:
    monkeypatch.setenv(variable, "0")
    report = run(source, goldens, tmp_path, Fault("none"))
    assert (report.result, report.why) == ("not-run", why)
    assert report.kernels[0].result == "not-run"


def test_a_number_that_no_device_has_is_told() -> None:
    assert look_for("npu", 3).why == "there is no npu:3, 1 found"
