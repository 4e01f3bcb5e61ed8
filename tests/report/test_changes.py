"""The hunks of run.json: they rebuild the output, name a rule for every change, and keep their fingerprint."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from tests.conftest import FlaTree
from tests.support.cli import KERNEL, package
from tritonport.emit.lock import read_dropped, read_lines
from tritonport.engine.linemap import Origin
from tritonport.migrate import MigrateOptions, migrate_tree
from tritonport.report.changes import FileText, hunks_of
from tritonport.sources import resolve
from tritonport.sources.tree import digest_bytes


def migrated(root: Path, text: str) -> dict[str, Any]:
    folder = package(root / "demo", rows=text)
    result = migrate_tree(resolve(str(folder)), root / "out", MigrateOptions(), lambda *_: None)
    return json.loads(json.dumps(result.record.to_json()))


def rebuilt(old: str, hunks: list[dict[str, Any]]) -> list[str]:
    """The output as the hunks give it; every line that they quote of upstream is upstream's."""
    before, result, at = old.splitlines(), list[str](), 0
    for hunk in hunks:
        result += before[at : hunk["before"] - 1]
        at = hunk["before"] - 1
        assert len(result) == hunk["after"] - 1
        for tag, text, *_ in hunk["lines"]:
            if tag != "+":
                assert before[at] == text
                at += 1
            if tag != "-":
                result.append(text)
    return result + before[at:]


def test_hunks_rebuild_the_output_and_every_change_has_a_rule(tmp_path: Path) -> None:
    run = migrated(tmp_path, KERNEL)
    (file,) = run["changes"]["files"]
    assert rebuilt(KERNEL, file["hunks"]) == (tmp_path / "out/demo/rows.py").read_text().splitlines()
    lines = [line for hunk in file["hunks"] for line in hunk["lines"] if line[0] != "="]
    assert lines
    for line in lines:
        assert line[2:] or line[1] == "" or line[1].startswith("# "), line


def test_a_hunk_names_its_function_and_the_kernels_it_launches(tmp_path: Path) -> None:
    run = migrated(tmp_path, KERNEL)
    kernels = {h["function"]: h["kernels"] for h in run["changes"]["files"][0]["hunks"]}
    assert kernels["double_rows"] == kernels["double"] == ["demo.rows:double_rows"]
    assert kernels["<module>"] == []


def test_a_function_put_in_front_of_another_is_no_part_of_the_files_top(tmp_path: Path) -> None:
    (file,) = migrated(tmp_path, KERNEL)["changes"]["files"]
    texts = {h["function"]: " ".join(line[1] for line in h["lines"] if line[0] == "+") for h in file["hunks"]}
    assert "def double_rows(" in texts["double_rows"] and "def double_rows_task(" in texts["double_rows"]
    assert "tritonport_runtime" in texts["<module>"] and "def " not in texts["<module>"]


@pytest.mark.parametrize(
    "text",
    [
        f"\ufeff{KERNEL}",
        KERNEL.replace("\n", "\r\n"),
        KERNEL.replace("import torch\n", "import torch\n\x0c\n"),
    ],
    ids=["byte-order-mark", "crlf", "form-feed"],
)
def test_any_python_file_has_hunks(tmp_path: Path, text: str) -> None:
    folder = package(tmp_path / "demo")
    (folder / "rows.py").write_bytes(text.encode())
    result = migrate_tree(resolve(str(folder)), tmp_path / "out", MigrateOptions(), lambda *_: None)
    changes = json.loads(json.dumps(result.record.to_json()))["changes"]
    assert {hunk["function"] for hunk in changes["files"][0]["hunks"]} == {
        "<module>",
        "double_rows",
        "double",
    }
    assert changes["files"][0]["source"] == digest_bytes(text.encode()) == changes["sources"]["demo/rows.py"]


def test_a_fingerprint_does_not_depend_on_where_the_hunk_stands(tmp_path: Path) -> None:
    def marks(name: str, text: str) -> dict[str, str]:
        (tmp_path / name).mkdir()
        run = migrated(tmp_path / name, text)
        return {h["function"]: h["fingerprint"] for h in run["changes"]["files"][0]["hunks"]}

    first = marks("first", KERNEL)
    moved = marks("moved", KERNEL.replace("@triton.jit", "LIMIT = 4\n\n\n@triton.jit"))
    assert moved["double_rows"] == first["double_rows"]
    assert moved["<module>"] == first["<module>"], "the notice names another digest of upstream's file"
    renamed = marks("renamed", KERNEL.replace("2 * tl.load", "3 * tl.load").replace("TILE=16)", "TILE=32)"))
    assert renamed["double"] != first["double"]


def test_equal_hunks_of_one_function_have_fingerprints_of_their_own() -> None:
    before = "def f():\n    a = 1\n" + "    pass\n" * 8 + "    a = 1\n"
    after = before.replace("a = 1", "a = 2")
    rules = {1: ("r",), 10: ("r",)}
    origins = [Origin(n + 1, rules.get(n, ())) for n in range(len(after.splitlines()))]
    first, second = hunks_of(FileText("x.py", before, after, origins, {}, {}))
    assert [line.text for line in first.lines if line.tag == "+"] == ["    a = 2"]
    assert first.fingerprint != second.fingerprint
    assert first.upstream == second.upstream


def test_a_line_taken_away_names_the_rule_that_took_it() -> None:
    before, after = "import a\nimport b\nimport c\n", "import a\nimport c\n"
    (hunk,) = hunks_of(FileText("x.py", before, after, [Origin(1), Origin(3)], {2: "host-device"}, {}))
    assert [(line.tag, line.rules) for line in hunk.lines] == [
        ("=", ()),
        ("-", ("host-device",)),
        ("=", ()),
    ]


@pytest.mark.parametrize(
    ("version", "profile"), [("0.6.0", "baseline"), pytest.param("0.5.1", "tuned", marks=pytest.mark.slow)]
)
def test_hunks_of_fla(fla_tree: FlaTree, version: str, profile: str, tmp_path: Path) -> None:
    tree, out = fla_tree(version), tmp_path / "out"
    result = migrate_tree(tree, out, MigrateOptions(profile=profile), lambda *_: None)
    changes = result.record.extra["changes"]
    for file in changes["files"]:
        old = (tree.root / file["path"]).read_text()
        assert rebuilt(old, file["hunks"]) == (out / file["path"]).read_text().splitlines(), file["path"]
        for hunk in file["hunks"]:
            for tag, text, *names in hunk["lines"]:
                assert tag == "=" or names or text.startswith("#"), (file["path"], hunk["function"], text)
    marks = [hunk["fingerprint"] for file in changes["files"] for hunk in file["hunks"]]
    assert len(marks) == len(set(marks)) > 100
    assert read_lines(out) == result.origins
    assert any("early-return" in lines.values() for lines in read_dropped(out).values())
