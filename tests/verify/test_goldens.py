"""Record on one machine, replay on another; changed, incomplete and foreign goldens are refused."""

from __future__ import annotations

import json
import shutil
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from tests.verify.tiny_package import Fault, case_of, out_with, upstream_tree
from tritonport.errors import UserError
from tritonport.sources.tree import SourceTree
from tritonport.verify.cases import CaseSet
from tritonport.verify.device.probe import Found, look_for
from tritonport.verify.device.settings import DeviceSetup, Waiver
from tritonport.verify.device.tier import run_gpu
from tritonport.verify.goldens import MANIFEST, RecordedOn, _digest, read_manifest, record, replay
from tritonport.verify.model import KernelTarget, TierReport


@pytest.fixture(scope="module")
def source(tmp_path_factory: pytest.TempPathFactory) -> SourceTree:
    """The tiny package with its case as a module of its own."""
    return upstream_tree(tmp_path_factory.mktemp("upstream"))


@pytest.fixture(scope="module")
def goldens(source: SourceTree, tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("goldens") / "g"
    assert record(source, case_of(source), folder, 1, lambda *_: None) == 1
    return folder


def test_a_relative_folder_is_recorded_into(
    source: SourceTree, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    assert record(source, case_of(source), Path("here"), 1, lambda *_: None) == 1
    assert (tmp_path / "here" / MANIFEST).is_file()


def replayed(goldens: Path, source: SourceTree, out: Path) -> TierReport:
    return replay(
        goldens=goldens,
        source=source,
        out=out,
        kernels=[KernelTarget("tiny.gram:gram_kernel")],
        jobs=1,
        progress=lambda *_: None,
    )


def test_right_code_passes_and_its_launching_functions_are_replayed(
    goldens: Path, source: SourceTree, tmp_path: Path
) -> None:
    report = replayed(goldens, source, out_with(tmp_path, Fault("none")))
    assert report.result == "pass", report.kernels[0].reasons
    assert report.kernels[0].host_calls == 3
    assert report.kernels[0].bitwise


def test_wrong_code_fails(goldens: Path, source: SourceTree, tmp_path: Path) -> None:
    report = replayed(goldens, source, out_with(tmp_path, Fault("heads", "i_h // (HV // H)", "i_h % H")))
    assert report.result == "fail"


def test_an_existing_folder_is_not_recorded_into(goldens: Path, source: SourceTree) -> None:
    with pytest.raises(UserError, match="new folder"):
        record(source, CaseSet(), goldens, 1, lambda *_: None)


def copy(goldens: Path, to: Path) -> Path:
    shutil.copytree(goldens, to / "g")
    return to / "g"


def test_a_changed_file_is_named(goldens: Path, source: SourceTree, tmp_path: Path) -> None:
    mine = copy(goldens, tmp_path)
    victim = next(mine.rglob("outputs.safetensors"))
    victim.write_bytes(victim.read_bytes()[:-1] + b"\1")
    with pytest.raises(UserError, match=r"outputs.safetensors was changed"):
        read_manifest(mine, source)


def edited(goldens: Path, to: Path, change: Callable[[dict[str, Any]], None], *, sign: bool = False) -> Path:
    """A copy whose manifest was changed; signed as if it had been recorded so."""
    mine = copy(goldens, to)
    manifest = json.loads((mine / MANIFEST).read_text())
    change(manifest)
    if sign:
        manifest["digest"] = _digest(manifest)
    (mine / MANIFEST).write_text(json.dumps(manifest))
    return mine


@pytest.mark.parametrize(
    "change",
    [
        lambda m: m["units"].clear(),
        lambda m: m["units"][0]["answer"]["hosts"].pop(),
        lambda m: m["units"][0]["answer"]["launches"].clear(),
        lambda m: m["cases"]["tolerances"].update(peak=1e9),
        lambda m: m["files"].clear(),
        lambda m: m.update(digest="sha256:0"),
    ],
    ids=["no units", "a call less", "no launches", "wider tolerance", "no files", "another digest"],
)
def test_a_manifest_that_was_edited_is_refused(
    goldens: Path, source: SourceTree, tmp_path: Path, change: Callable[[dict[str, Any]], None]
) -> None:
    with pytest.raises(UserError, match="the manifest was changed since it was recorded"):
        read_manifest(edited(goldens, tmp_path, change), source)


def test_a_manifest_without_a_member_is_no_manifest(
    goldens: Path, source: SourceTree, tmp_path: Path
) -> None:
    for member in ("files", "source", "goldens", "digest"):
        folder = edited(goldens, tmp_path / member, lambda m, name=member: m.pop(name))
        with pytest.raises(UserError, match="not a manifest of goldens"):
            read_manifest(folder, source)


def test_goldens_of_other_sources_of_the_same_release_are_refused(
    goldens: Path, source: SourceTree, tmp_path: Path
) -> None:
    shutil.copytree(source.root, tmp_path / "changed")
    file = tmp_path / "changed" / "tiny" / "gram.py"
    file.write_text(file.read_text() + "# a fix\n")
    with pytest.raises(UserError, match=r"of other sources of tiny-ops 1.0"):
        read_manifest(goldens, replace(source, root=tmp_path / "changed"))


def test_goldens_travel_without_paths_of_this_machine(
    goldens: Path, source: SourceTree, tmp_path: Path
) -> None:
    manifest = json.loads((goldens / MANIFEST).read_text())
    (entry,) = manifest["units"]
    assert entry["unit"]["file"] == "tiny/case.py"
    shutil.copytree(source.root, tmp_path / "elsewhere")
    moved = replace(source, root=tmp_path / "elsewhere")
    report = replayed(copy(goldens, tmp_path), moved, out_with(tmp_path, Fault("none")))
    assert report.result == "pass", report.kernels[0].reasons


def test_other_versions_or_processors_are_held_to_the_tolerance(
    goldens: Path, source: SourceTree, tmp_path: Path
) -> None:
    elsewhere = edited(goldens, tmp_path, lambda m: m["made"].update(numpy="1.26.4"), sign=True)
    fault = Fault("rounding", "return o", "return o * (1 + 2**-22)")
    report = replayed(elsewhere, source, out_with(tmp_path, fault))
    assert report.result == "pass", report.kernels[0].reasons
    assert not report.kernels[0].bitwise
    assert "numpy 1.26.4" in report.versions["goldens"]
    assert replayed(goldens, source, tmp_path / "out").result == "fail"


def recorded_on_a_gpu(source: SourceTree, folder: Path, *, waived: tuple[str, ...] = ()) -> Path:
    """Recorded as a device records, and named as one. waived: kernels that upstream calls wrong there."""
    device = RecordedOn(DeviceSetup("interpreter"), look_for("interpreter", 0))
    assert record(source, case_of(source), folder / "g", 1, lambda *_: None, device) == 1

    def name(manifest: dict[str, Any]) -> None:
        manifest["made"]["device"] = "NVIDIA H200"
        manifest["units"][0]["answer"]["waived"] = list(waived)

    return edited(folder / "g", folder / "named", name, sign=True)


WRONG = Fault("heads", "i_h // (HV // H)", "i_h % H")


def test_goldens_of_a_gpu_are_replayed_in_the_interpreter_within_the_tolerance(
    source: SourceTree, tmp_path: Path
) -> None:
    of_a_gpu = recorded_on_a_gpu(source, tmp_path)
    rounding = Fault("rounding", "return o", "return o * (1 + 2**-22)")
    report = replayed(of_a_gpu, source, out_with(tmp_path / "near", rounding))
    assert report.result == "pass", report.kernels[0].reasons
    assert report.kernels[0].host_calls == 3
    assert not report.kernels[0].bitwise
    assert "NVIDIA H200" in report.versions["goldens"]
    assert replayed(of_a_gpu, source, out_with(tmp_path / "wrong", WRONG)).result == "fail"


REFERENCE = """

def reference(runs):
    return launch(runs)
"""


def test_what_upstream_calls_wrong_on_the_gpu_is_held_against_the_reference_alone(
    source: SourceTree, tmp_path: Path
) -> None:
    (tmp_path / "upstream").mkdir()
    told = upstream_tree(tmp_path / "upstream")
    file = told.root / "tiny" / "case.py"
    file.write_text(file.read_text() + REFERENCE)
    goldens = recorded_on_a_gpu(told, tmp_path, waived=("tiny.gram:gram_kernel",))
    report = replayed(goldens, told, out_with(tmp_path, WRONG))
    (case,) = report.cases
    checks = [*case.checks, *(check for host in case.hosts for check in host.checks)]
    assert {check.against for check in checks if not check.bitwise} == {"original, not judged", "reference"}
    assert {check.against for check in checks if not check.ok} == {"reference"}
    assert report.result == "fail"


def test_what_is_recorded_on_a_device_is_replayed_on_one(source: SourceTree, tmp_path: Path) -> None:
    dry = DeviceSetup("interpreter")
    cases = case_of(source)
    device = RecordedOn(dry, look_for("interpreter", 0))
    assert record(source, cases, tmp_path / "g", 1, lambda *_: None, device) == 1
    answer = json.loads((tmp_path / "g" / MANIFEST).read_text())["units"][0]["answer"]
    assert answer["repeatable"] is True
    report = run_gpu(
        source=source,
        out=out_with(tmp_path, Fault("none")),
        kernels=[KernelTarget("tiny.gram:gram_kernel")],
        cases=None,
        progress=lambda *_: None,
        goldens=tmp_path / "g",
        settings=dry,
    )
    assert (report.tier, report.result) == ("gpu", "pass"), report.kernels[0].reasons


def test_a_case_that_nothing_judges_is_not_recorded(source: SourceTree, tmp_path: Path) -> None:
    waiver = Waiver("tiny.gram", "__doc__", True, ">=3", ("tiny.gram:gram_kernel",), "wrong here")
    device = RecordedOn(DeviceSetup("interpreter", waivers=(waiver,)), look_for("interpreter", 0))
    with pytest.raises(UserError, match="nothing else says what is right"):
        record(source, case_of(source), tmp_path / "g", 1, lambda *_: None, device)


def test_a_device_that_is_not_there_records_nothing(source: SourceTree, tmp_path: Path) -> None:
    cases = case_of(source)
    absent = RecordedOn(DeviceSetup("cuda"), Found(why="torch finds no CUDA device"))
    with pytest.raises(UserError, match="torch finds no CUDA device"):
        record(source, cases, tmp_path / "g", 1, lambda *_: None, absent)
    assert list(tmp_path.iterdir()) == []


def test_a_missing_file_is_named(goldens: Path, source: SourceTree, tmp_path: Path) -> None:
    mine = copy(goldens, tmp_path)
    next(mine.rglob("inputs.json")).unlink()
    with pytest.raises(UserError, match=r"incomplete goldens: .*inputs.json is missing"):
        read_manifest(mine, source)


def test_an_additional_file_is_named(goldens: Path, source: SourceTree, tmp_path: Path) -> None:
    mine = copy(goldens, tmp_path)
    (mine / "more.json").write_text("{}")
    with pytest.raises(UserError, match=r"does not belong to these goldens: more.json"):
        read_manifest(mine, source)


def test_goldens_of_another_release_are_refused(goldens: Path, source: SourceTree) -> None:
    with pytest.raises(UserError, match=r"of tiny-ops 1.0, the sources are tiny-ops 2.0"):
        read_manifest(goldens, replace(source, version="2.0"))


def test_other_formats_and_folders_are_refused(goldens: Path, source: SourceTree, tmp_path: Path) -> None:
    mine = copy(goldens, tmp_path)
    manifest = json.loads((mine / MANIFEST).read_text())
    (mine / MANIFEST).write_text(json.dumps({**manifest, "goldens": "tritonport.goldens/9"}))
    with pytest.raises(UserError, match="goldens of another format"):
        read_manifest(mine, source)
    (mine / MANIFEST).write_text("[]")
    with pytest.raises(UserError, match="not a manifest"):
        read_manifest(mine, source)
    with pytest.raises(UserError, match="holds no goldens"):
        read_manifest(tmp_path, source)
