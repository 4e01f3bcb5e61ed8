"""Files whose lines end in every way there is: fixes, patch and hunks say what stands in the bytes."""

from __future__ import annotations

import json
import re
import subprocess
from pathlib import Path
from typing import Any
from urllib.parse import unquote

import pytest

from tests.report.conftest import RETURNS
from tests.support.cli import KERNEL, in_process, package
from tritonport.lines import bare_lines, newline_of, split_lines

TAIL = (
    RETURNS.replace("    dst = torch.empty_like(src)\n", "")
    .replace("    return dst\n", "")
    .replace("def halve(src)", "def halve(src, dst)")
)
"""Its last line is the launch, so that something is written behind the file's last line."""
FILES: dict[str, bytes] = {
    "plain": KERNEL.encode(),
    "crlf": RETURNS.replace("\n", "\r\n").encode(),
    "cr": RETURNS.replace("\n", "\r").encode(),
    "mixed": RETURNS.replace("\n", "\r\n", 9).encode(),
    "no_end": RETURNS.rstrip("\n").encode(),
    "no_end_crlf": RETURNS.rstrip("\n").replace("\n", "\r\n").encode(),
    "no_end_tail": TAIL.rstrip("\n").encode(),
    "form_feed": RETURNS.replace("\n\n\n@", "\n\x0c\n\n@").replace("def halve(", "\x0cdef halve(").encode(),
    "separators": KERNEL.replace("Doubles", "D\u00f6\u2028ubles \x1c \x85 \U0001f600").encode(),
    "sp ace \u00e4%20": KERNEL.encode(),
    "byte_order_mark": f"\ufeff{KERNEL}".encode(),
}
each = pytest.mark.parametrize("name", FILES)


@pytest.fixture(scope="module")
def made(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A folder with the package demo, its output, its SARIF log and the patch."""
    root = tmp_path_factory.mktemp("ends")
    folder = package(root / "demo")
    for name, data in FILES.items():
        (folder / f"{name}.py").write_bytes(data)
    reports = ("--report", "json=run.json", "--report", "sarif=run.sarif")
    assert in_process("migrate", "demo", "-o", "out", *reports, cwd=root).returncode == 0
    assert in_process("diff", "demo", "out", "--emit", "patch", "-o", "x.patch", cwd=root).returncode == 0
    return root


def _offset(starts: list[int], line: int, column: int) -> int:
    return starts[line - 1] + column - 1


def fixed(text: str, edits: list[Any], newlines: list[str]) -> str:
    """As an editor does it: from the last edit to the first, by lines and columns of the untouched text."""
    ends = re.finditer("|".join(map(re.escape, newlines)), text)
    starts = [0, *(found.end() for found in ends)]
    for edit in sorted(edits, key=lambda e: -e["deletedRegion"]["startLine"]):
        region = edit["deletedRegion"]
        first = _offset(starts, region["startLine"], region["startColumn"])
        after = _offset(starts, region["endLine"], region["endColumn"])
        text = text[:first] + edit.get("insertedContent", {"text": ""})["text"] + text[after:]
    return text


@each
def test_the_fixes_of_sarif_make_the_output(made: Path, name: str) -> None:
    (run,) = json.loads((made / "run.sarif").read_text())["runs"]
    changes = [c for r in run["results"] for fix in r.get("fixes", ()) for c in fix["artifactChanges"]]
    own = [c for c in changes if unquote(c["artifactLocation"]["uri"]) == f"demo/{name}.py"]
    assert all(re.fullmatch(r"[\w./%~-]+", c["artifactLocation"]["uri"], re.ASCII) for c in changes)
    edits = [edit for change in own for edit in change["replacements"]]
    assert edits
    text = fixed(FILES[name].decode("utf-8-sig"), edits, run["newlineSequences"])
    assert text == (made / "out/demo" / f"{name}.py").read_bytes().decode("utf-8-sig")


@each
def test_the_hunks_rebuild_the_output(made: Path, name: str) -> None:
    files = json.loads((made / "run.json").read_text())["changes"]["files"]
    (file,) = [f for f in files if f["path"] == f"demo/{name}.py"]
    before = split_lines(FILES[name].decode("utf-8-sig"))
    result, at = list[str](), 0
    for hunk in file["hunks"]:
        result += before[at : hunk["before"] - 1]
        at = hunk["before"] - 1
        assert len(result) == hunk["after"] - 1
        for tag, text, *rest in hunk["lines"]:
            line = text + (rest[1] if len(rest) > 1 else file["newline"])
            if tag != "+":
                assert before[at] == line
                at += 1
            result += [line] if tag != "-" else []
    assert "".join(result + before[at:]) == (made / "out/demo" / f"{name}.py").read_bytes().decode(
        "utf-8-sig"
    )


def test_git_applies_the_patch(made: Path) -> None:
    for command in (
        ["git", "init", "-q"],
        ["git", "apply", "--check", "x.patch"],
        ["git", "-c", "core.autocrlf=false", "apply", "--whitespace=nowarn", "x.patch"],
    ):
        subprocess.run(command, cwd=made, check=True, capture_output=True)
    for name in FILES:
        assert (made / f"demo/{name}.py").read_bytes() == (made / f"out/demo/{name}.py").read_bytes(), name


def test_lines_are_those_that_python_counts() -> None:
    text = "a\x0cb\r\nc\rd\u2028e\n\nf"
    assert bare_lines(text) == ["a\x0cb", "c", "d\u2028e", "", "f"]
    assert "".join(split_lines(text)) == text
    assert [newline_of(t) for t in (text, "x", "", "x\ry\n")] == ["\r\n", "\n", "\n", "\r"]
