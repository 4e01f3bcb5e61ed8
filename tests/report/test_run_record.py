"""run.json of a real migration holds to the published schema, and the text report says the same."""

from __future__ import annotations

import copy
import json
from pathlib import Path
from typing import Any

import jsonschema
import pytest

from tests.support.cli import KERNEL, ODD_KERNEL, package, tritonport
from tritonport.cli.tiers import portable
from tritonport.report.run_json import run_schema

SCHEMA = run_schema()


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A package with one kernel that converts and one whose grid is not understood, migrated."""
    root = tmp_path_factory.mktemp("report")
    package(root / "demo", rows=KERNEL, odd=ODD_KERNEL)
    reports = ("--report", "json=run.json", "--report", "text=run.txt")
    done = tritonport("migrate", "demo", "-o", "out", *reports, "--verify", "parse", cwd=root)
    assert done.returncode == 1, done.stderr
    (root / "stdout.txt").write_text(done.stdout)
    return root


@pytest.fixture
def record(folder: Path) -> dict[str, Any]:
    return json.loads((folder / "run.json").read_text(encoding="utf-8"))


def test_the_schema_is_a_schema() -> None:
    jsonschema.Draft202012Validator.check_schema(SCHEMA)


def test_a_run_holds_to_the_schema(record: dict[str, Any]) -> None:
    jsonschema.validate(record, SCHEMA)
    assert {kernel["outcome"] for kernel in record["kernels"]} == {"converted", "not-converted"}
    assert record["summary"]["kernels"] == 2


def _without(record: dict[str, Any], *path: str | int) -> dict[str, Any]:
    changed = copy.deepcopy(record)
    place: Any = changed
    for step in path[:-1]:
        place = place[step]
    del place[path[-1]]
    return changed


@pytest.mark.parametrize(
    "path",
    [
        ("tool", "rules_digest"),
        ("source", "entry"),
        ("summary",),
        ("kernels", 0, "npu"),
        ("kernels", 0, "tiers", "gpu"),
        ("changes", "sources"),
        ("changes", "files", 0, "hunks", 0, "fingerprint"),
    ],
)
def test_a_missing_member_is_found(record: dict[str, Any], path: tuple[str | int, ...]) -> None:
    with pytest.raises(jsonschema.ValidationError, match=str(path[-1])):
        jsonschema.validate(_without(record, *path), SCHEMA)


def test_members_of_later_versions_are_allowed(record: dict[str, Any]) -> None:
    record["kernels"][0]["colour"] = record["weather"] = "fine"
    jsonschema.validate(record, SCHEMA)


def test_the_text_report_is_what_the_terminal_shows(folder: Path) -> None:
    text = (folder / "run.txt").read_text(encoding="utf-8")
    shown = (folder / "stdout.txt").read_text()
    assert text.splitlines() == shown.splitlines()


def test_kernels_that_need_somebody_come_first_with_their_place(folder: Path) -> None:
    lines = (folder / "run.txt").read_text(encoding="utf-8").splitlines()
    assert lines[0].startswith("not-converted") and "demo.odd:odd_rows" in lines[0]
    assert lines[1].strip().startswith("grid-collapse demo/odd.py:16: ")
    assert lines[2].startswith("converted") and "demo.rows:double_rows" in lines[2]
    assert "tiers not run: interpret, hazard, gpu, npu-compile, npu-run" in lines


def test_json_on_stdout_is_the_record_alone(folder: Path) -> None:
    done = tritonport("migrate", "demo", "-o", "again", "--format", "json", cwd=folder)
    jsonschema.validate(json.loads(done.stdout), SCHEMA)
    assert done.stderr == ""


def test_a_record_says_nothing_about_the_machine(tmp_path: Path) -> None:
    out, root = tmp_path / "out", tmp_path / "lib/python3"
    said = {"file": f"{out}/pkg/a.py", "why": (f"at {root}/pkg/b.py:3",), "count": 2, "none": None}
    assert portable(said, (out, root)) == {
        "file": "pkg/a.py",
        "why": ["at pkg/b.py:3"],
        "count": 2,
        "none": None,
    }
