"""Record on one machine, replay on another; changed, incomplete and foreign goldens are refused."""

from __future__ import annotations

import json
from dataclasses import replace
from pathlib import Path, PurePosixPath

import pytest

from tests.verify.tiny_package import HERE, Fault, mutate
from tritonport.errors import UserError
from tritonport.sources.tree import SourceTree
from tritonport.verify.cases import CaseSet, Script
from tritonport.verify.goldens import MANIFEST, read_manifest, record, replay
from tritonport.verify.model import KernelTarget, TierReport

CASE = (HERE / "case.py").read_text()


@pytest.fixture(scope="module")
def source(tmp_path_factory: pytest.TempPathFactory) -> SourceTree:
    """The tiny package with its case as a module of its own."""
    root = tmp_path_factory.mktemp("upstream")
    (root / "tiny").mkdir()
    for path in (HERE / "upstream" / "tiny").glob("*.py"):
        (root / "tiny" / path.name).write_text(path.read_text())
    (root / "tiny" / "case.py").write_text(CASE)
    return SourceTree(root, "tiny", PurePosixPath("tiny"), "tiny-ops", "1.0")


@pytest.fixture(scope="module")
def goldens(source: SourceTree, tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("goldens") / "g"
    cases = CaseSet(scripts=(Script("case", source.root / "tiny" / "case.py", "tiny.case"),))
    assert record(source, cases, folder, 1, lambda *_: None) == 1
    return folder


def test_a_relative_folder_is_recorded_into(
    source: SourceTree, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    cases = CaseSet(scripts=(Script("case", source.root / "tiny" / "case.py", "tiny.case"),))
    assert record(source, cases, Path("here"), 1, lambda *_: None) == 1
    assert (tmp_path / "here" / MANIFEST).is_file()


def out_with(folder: Path, fault: Fault) -> Path:
    out = folder / "out"
    (out / "tiny").mkdir(parents=True)
    for path in (HERE / "ported" / "tiny").glob("*.py"):
        text = path.read_text()
        (out / "tiny" / path.name).write_text(mutate(text, fault) if path.name == "gram.py" else text)
    from tests.verify.tiny_package import ACTIVATE

    (out / "activate.py").write_text(ACTIVATE)
    return out


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
    import shutil

    shutil.copytree(goldens, to / "g")
    return to / "g"


def test_a_changed_file_is_named(goldens: Path, source: SourceTree, tmp_path: Path) -> None:
    mine = copy(goldens, tmp_path)
    victim = next(mine.rglob("outputs.safetensors"))
    victim.write_bytes(victim.read_bytes()[:-1] + b"\1")
    with pytest.raises(UserError, match=r"outputs.safetensors was changed"):
        read_manifest(mine, source)


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
