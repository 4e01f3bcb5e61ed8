"""What the tier answers besides pass: substituted kernels, missing launches, crashes, nothing to run,
versions."""

from __future__ import annotations

from pathlib import Path, PurePosixPath

import pytest

from tests.verify.tiny_package import CONTROL, HERE, Fault, Tiny, build
from tritonport.errors import UserError
from tritonport.sources.tree import SourceTree
from tritonport.verify import tier
from tritonport.verify.cases import CaseSet, Script, case_set_for
from tritonport.verify.model import KernelTarget, TierReport
from tritonport.verify.versions import check_versions

IMPORTS = "from tiny.tritonport_runtime import on_cube_cores"


def verify(tiny: Tiny, *kernels: KernelTarget, cases: CaseSet | None = None) -> TierReport:
    return tier.run_interpret(
        source=tiny.source,
        out=tiny.out,
        kernels=kernels or tuple(tiny.targets.values()),
        cases=cases or tiny.cases,
        jobs=1,
        progress=lambda *_: None,
    )


def test_a_grid_that_was_not_collapsed_fails(tmp_path: Path) -> None:
    upstream = (HERE / "upstream" / "tiny" / "gram.py").read_text()
    report = verify(build(tmp_path, [CONTROL], ported=upstream))
    assert report.result == "fail"
    assert any("programs on" in reason for reason in report.kernels[0].reasons)
    assert all(check.ok for case in report.cases for check in case.checks)


def test_a_module_that_was_not_replaced_fails(tmp_path: Path) -> None:
    tiny = build(tmp_path, [CONTROL])
    (tiny.out / "tiny" / "gram_00.py").unlink()
    report = verify(tiny)
    assert report.result == "fail"
    assert any("the original kernel ran in its place" in reason for reason in report.kernels[0].reasons)


def test_a_fallback_without_the_kernel_fails(tmp_path: Path) -> None:
    """The fallback computes what the original computes: only the launch count gives it away."""
    source = (HERE / "ported" / "tiny" / "gram.py").read_text()
    fallback = source.replace("gram_kernel", "other_kernel") + "\n\ngram_kernel = other_kernel\n"
    report = verify(build(tmp_path, [CONTROL], ported=fallback))
    assert report.result == "fail"
    assert all(check.ok for case in report.cases for check in case.checks)
    (reason,) = (r for r in report.kernels[0].reasons if "never" in r)
    assert "in its place ran tiny.gram_00:other_kernel" in reason


def test_code_that_raises_fails(tmp_path: Path) -> None:
    report = verify(build(tmp_path, [Fault("raises", "return o", "raise ValueError('no such tile')")]))
    assert report.result == "fail"
    assert any("no such tile" in reason for reason in report.kernels[0].reasons)


def test_a_process_that_dies_fails_its_case_and_is_replaced(tmp_path: Path) -> None:
    tiny = build(tmp_path, [Fault("dies", "return o", "import os\nos._exit(11)"), CONTROL])
    report = verify(tiny)
    assert [case.outcome for case in report.cases] == ["fail", "pass"]
    assert "ended with status 11" in str(report.cases[0].why)
    assert [verdict.result for verdict in report.kernels] == ["fail", "pass"]


def test_a_kernel_that_no_case_launches_is_not_run(tmp_path: Path) -> None:
    tiny = build(tmp_path, [CONTROL])
    report = verify(tiny, KernelTarget("tiny.gram_00:gram_kernel"), KernelTarget("tiny.gram_00:absent"))
    assert [v.result for v in report.kernels] == ["pass", "not-run"]
    assert report.kernels[1].reasons == ("no case launches it",)


def test_reordered_rules_are_held_to_a_tolerance(tmp_path: Path) -> None:
    fault = Fault(
        "other order", "tl.dot(b_a.to(b_v.dtype), b_v) * scale", "tl.dot((b_a * scale).to(b_v.dtype), b_v)"
    )
    tiny = build(tmp_path, [fault])
    (name,) = (t.name for t in tiny.targets.values())
    exact, close = verify(tiny, KernelTarget(name)), verify(tiny, KernelTarget(name, ("exact", "reordered")))
    assert exact.result == "fail" or exact.kernels[0].bitwise  # a factor of 1/2 may round the same
    assert close.result == "pass"


def test_reordered_rules_do_not_excuse_a_wrong_index(tmp_path: Path) -> None:
    tiny = build(tmp_path, [Fault("heads", "i_h // (HV // H)", "i_h % H")])
    (name,) = (t.name for t in tiny.targets.values())
    assert verify(tiny, KernelTarget(name, ("reordered",))).result == "fail"


def test_an_original_that_fails_leaves_the_kernel_not_run(tmp_path: Path) -> None:
    tiny = build(tmp_path, [CONTROL])
    (script,) = tiny.cases.scripts
    script.file.write_text(
        script.file.read_text() + "\n\ndef launch(runs):\n    raise RuntimeError('no device')\n"
    )
    report = verify(tiny)
    assert report.result == "not-run"
    assert "no device" in str(report.why)
    assert report.kernels[0].result == "not-run"


def test_without_cases_nothing_is_run(tmp_path: Path) -> None:
    tiny = build(tmp_path, [CONTROL])
    report = tier.run_interpret(
        source=tiny.source, out=tiny.out, kernels=tuple(tiny.targets.values()), cases=None, jobs=1,
        progress=lambda *_: None,
    )  # fmt: skip
    assert report.result == "not-run"
    assert "--cases" in str(report.why)
    assert report.kernels[0].result == "not-run"


def test_modules_of_the_entry_that_bring_inputs_are_cases(tmp_path: Path) -> None:
    (tmp_path / "lone.py").write_text("def make_inputs(device): ...\n\ndef launch(): ...\n")
    (tmp_path / "other.py").write_text("def launch(): ...\n")
    found = case_set_for(SourceTree(tmp_path, None, PurePosixPath(".")))
    assert found is not None
    assert found.scripts == (Script("lone", tmp_path / "lone.py", "lone"),)


def test_a_case_file_without_the_two_functions_is_refused(tmp_path: Path) -> None:
    (tmp_path / "empty.py").write_text("")
    with pytest.raises(UserError, match="make_inputs"):
        case_set_for(SourceTree(tmp_path, None, PurePosixPath(".")), [tmp_path / "empty.py"])


@pytest.mark.parametrize(
    ("name", "version", "said"),
    [
        ("triton", "3.9.0", "triton<3.7,>=3.2 (found 3.9.0)"),
        ("triton", "3.7.0", "found 3.7.0"),
        ("torch", None, "torch>=2.1 (not installed)"),
        ("safetensors", None, "safetensors>=0.4 (not installed)"),
    ],
)
def test_wrong_versions_are_named_with_the_right_ones(name: str, version: str | None, said: str) -> None:
    right = {"torch": "2.13.0+cpu", "triton": "3.6.0", "numpy": "2.3.5", "safetensors": "0.5.0"}
    found, why = check_versions(lambda n: version if n == name else right[n])
    assert why is not None
    assert said in why
    assert "\n" not in why
    assert check_versions(right.__getitem__) == (right, None)
    assert name not in found or found[name] == version


def test_wrong_versions_leave_the_tier_not_run(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(tier, "check_versions", lambda: ({"triton": "3.9.0"}, "needs triton<3.7"))
    report = verify(build(tmp_path, [CONTROL]))
    assert (report.result, report.why) == ("not-run", "needs triton<3.7")
    assert report.kernels[0].result == "not-run"
