"""The drift gate: silent on what migrate writes, and right about who changed the rest."""

from __future__ import annotations

import json
import shutil
from pathlib import Path
from typing import Any

import pytest

from tests.support.cli import KERNEL, in_process, package
from tritonport.check import HAND, SAME_VERSION, CheckResult, compare, read_lock
from tritonport.emit.lock import LOCK
from tritonport.sources.tree import digest_bytes

ROWS = "demo/rows.py"


@pytest.fixture(scope="module")
def made(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A folder with a package `demo` and its migration in `out`."""
    folder = tmp_path_factory.mktemp("made")
    package(folder / "demo", rows=KERNEL)
    done = in_process("migrate", "demo", "-o", "out", cwd=folder)
    assert done.returncode == 0, done.stderr
    return folder


@pytest.fixture
def work(made: Path, tmp_path: Path) -> Path:
    """The same, to be changed."""
    return shutil.copytree(made, tmp_path / "work")


def checked(folder: Path, *args: str) -> tuple[int, dict[str, Any]]:
    done = in_process("check", *(args or ("demo", "out")), "--format", "json", cwd=folder)
    assert done.returncode in (0, 1), done.stderr
    return done.returncode, json.loads(done.stdout)


def why(found: dict[str, Any], path: str) -> list[str]:
    return next(item["why"] for item in found["files"] if item["path"] == path)


def edit(file: Path, old: str, new: str) -> None:
    text = file.read_text(encoding="utf-8")
    assert old in text
    file.write_text(text.replace(old, new), encoding="utf-8")


def test_what_migrate_wrote_passes_and_is_left_alone(work: Path) -> None:
    before = {p: p.read_bytes() for p in work.rglob("*") if p.is_file()}
    code, found = checked(work)
    assert (code, found["same"], found["files"], found["causes"]) == (0, True, [], [])
    assert {p: p.read_bytes() for p in work.rglob("*") if p.is_file()} == before


def test_a_hand_edit_is_shown_with_its_lines(work: Path) -> None:
    edit(work / "out" / ROWS, "2 * tl.load", "3 * tl.load")
    done = in_process("check", "demo", "out", cwd=work)
    assert done.returncode == 1
    assert f"changed {ROWS}  ({HAND})" in done.stdout
    removed = [line for line in done.stdout.splitlines() if line.startswith("-") and "3 * tl.load" in line]
    added = [line for line in done.stdout.splitlines() if line.startswith("+") and "2 * tl.load" in line]
    assert len(removed) == len(added) == 1


def test_a_hand_edit_beside_the_recorded_files(work: Path) -> None:
    edit(work / "out" / "activate.py", "import sys", "import sys  # mine")
    code, found = checked(work)
    assert code == 1 and [item["path"] for item in found["files"]] == ["activate.py"]
    assert why(found, "activate.py") == [HAND]


def test_files_that_were_removed_or_added(work: Path) -> None:
    (work / "out" / ROWS).unlink()
    (work / "out" / "demo" / "more.py").write_text("x = 1\n")
    (work / "out" / "run.json").write_text("{}\n")
    code, found = checked(work)
    states = {item["path"]: (item["state"], item["why"]) for item in found["files"]}
    assert code == 1
    assert states == {ROWS: ("missing", [HAND]), "demo/more.py": ("extra", [HAND])}
    assert found["kept"] == ["run.json"]


def test_upstream_moved(work: Path) -> None:
    edit(work / "demo" / "rows.py", "2 * tl.load", "4 * tl.load")
    code, found = checked(work)
    assert code == 1 and found["causes"] == [f"upstream: {ROWS} changed"]
    assert why(found, ROWS) == found["causes"]
    assert why(found, LOCK) == found["causes"]


def test_an_edit_in_both_places_has_both_reasons(work: Path) -> None:
    edit(work / "demo" / "rows.py", "2 * tl.load", "4 * tl.load")
    edit(work / "out" / ROWS, "2 * tl.load", "3 * tl.load")
    assert why(checked(work)[1], ROWS) == [HAND, f"upstream: {ROWS} changed"]


def test_the_configuration_file_says_something_else(work: Path) -> None:
    (work / "tritonport.toml").write_text('schedule = "interleaved"\nignore = ["empty-work"]\n')
    code, found = checked(work)
    expected = [
        "configuration: rules -empty-work",
        "configuration: schedule contiguous -> interleaved",
    ]
    assert code == 1 and found["causes"] == expected and why(found, ROWS) == expected


def test_options_of_the_run_are_taken_from_the_lock(work: Path) -> None:
    done = in_process("migrate", "demo", "-o", "out", "--schedule", "interleaved", cwd=work)
    assert done.returncode == 0, done.stderr
    assert checked(work)[0] == 0
    code, found = checked(work, "demo", "out", "--schedule", "contiguous")
    assert code == 1 and found["causes"] == ["configuration: schedule interleaved -> contiguous"]


def test_assumptions_of_the_run_are_taken_from_the_lock(work: Path) -> None:
    done = in_process("migrate", "demo", "-o", "out", "--assume", "size % 16 == 0", cwd=work)
    assert done.returncode == 0, done.stderr
    assert checked(work)[0] == 0
    code, found = checked(work, "demo", "out", "--assume", "size % 32 == 0")
    assert code == 1
    assert found["causes"] == ["configuration: assumptions +size % 32 == 0 -size % 16 == 0"]


def test_another_tool_and_other_rules_are_named(work: Path) -> None:
    lock = json.loads((work / "out" / LOCK).read_text())
    lock["tool"] = {"version": "0.0.1", "rules_digest": "sha256:" + "0" * 64}
    (work / "out" / LOCK).write_text(json.dumps(lock))
    code, found = checked(work)
    assert code == 1 and [item["path"] for item in found["files"]] == [LOCK]
    assert [cause.partition(":")[0] for cause in why(found, LOCK)] == ["tool", "rules"]
    assert "tritonport 0.0.1 -> " in found["causes"][0]


def compared(made: Path, fresh_rows: bytes) -> CheckResult:
    """What is said when migrate itself would now write other bytes for one file."""
    out = made / "out"
    old = {p.relative_to(out).as_posix(): p.read_bytes() for p in out.rglob("*") if p.is_file()}
    lock = read_lock(out)
    after = json.loads(json.dumps(lock))
    after["files"][ROWS]["output"] = digest_bytes(fresh_rows)
    return compare(lock, old, after, {**old, ROWS: fresh_rows})


def test_code_that_changed_under_the_same_version_is_no_hand_edit(made: Path) -> None:
    (found,) = compared(made, b"# other\n").differences
    assert (found.path, found.state, found.why) == (ROWS, "changed", (SAME_VERSION,))


def test_mistakes_are_one_line(work: Path) -> None:
    for args in (
        ["check", "demo"],
        ["check", "demo", "elsewhere"],
        ["check", "a", "b", "out"],
        ["check", "out"],
    ):
        done = in_process(*args, cwd=work)
        assert (done.returncode, done.stdout, done.stderr.count("\n")) == (2, "", 1), args
    (work / "out" / LOCK).write_text('{"files": {}}')
    done = in_process("check", "demo", "out", cwd=work)
    assert done.returncode == 2 and "not a lock file of tritonport" in done.stderr


@pytest.mark.slow
@pytest.mark.network
def test_the_release_of_the_lock_is_the_default_source(tmp_path: Path) -> None:
    made = in_process(
        "migrate", "fla/ops/utils/cumsum.py", "--from", "fla-core==0.4.1", "-o", "npu", "-q", cwd=tmp_path
    )
    assert made.returncode == 0, made.stderr
    assert in_process("check", "npu", cwd=tmp_path).returncode == 0
    code, found = checked(tmp_path, "fla/ops/utils/cumsum.py", "npu", "--from", "fla-core==0.4.2")
    assert code == 1 and "upstream: fla-core 0.4.1 -> fla-core 0.4.2" in found["causes"]
