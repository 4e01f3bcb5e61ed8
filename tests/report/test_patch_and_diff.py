"""`diff`: a patch that the real git takes, and the terminal's view."""

from __future__ import annotations

import subprocess
from pathlib import Path

import pytest

from tests.support.cli import KERNEL, package, tritonport
from tritonport.cli.diff_cmd import diff
from tritonport.errors import UserError
from tritonport.report.diff import diff_lines
from tritonport.report.patch import patch


def git(*args: str, cwd: Path, data: bytes = b"") -> None:
    done = subprocess.run(["git", *args], cwd=cwd, input=data, capture_output=True, check=False)
    assert done.returncode == 0, done.stderr.decode()


def upstream(root: Path, files: dict[str, bytes]) -> Path:
    for name, data in files.items():
        (root / name).parent.mkdir(parents=True, exist_ok=True)
        (root / name).write_bytes(data)
    git("init", "-q", cwd=root)
    return root


def test_git_applies_the_patch_to_upstream(demo: Path, tmp_path: Path) -> None:
    done = tritonport("diff", "demo", "out", "--emit", "patch", "-o", tmp_path / "x.patch", cwd=demo)
    assert (done.returncode, done.stdout, done.stderr) == (0, "", "")
    files = {f"demo/{p.name}": p.read_bytes() for p in (demo / "demo").glob("*.py")}
    tree = upstream(tmp_path / "tree", files)
    git("apply", "--check", str(tmp_path / "x.patch"), cwd=tree)
    git("apply", str(tmp_path / "x.patch"), cwd=tree)
    for path in (demo / "out/demo").glob("*.py"):
        assert (tree / "demo" / path.name).read_bytes() == path.read_bytes(), path.name
    assert (tree / "demo/tritonport_runtime.py").is_file()


@pytest.mark.parametrize(
    ("before", "after"),
    [
        (b"a\nb\nc", b"a\nB\nc"),
        (b"a\nb", b"a\nb\n"),
        (b"a\nb\n", b"a\nb"),
        (b"a\r\nb\r\nc\r\n", b"a\r\nB\r\nc\r\n"),
        (b"a\nb\x0cb\nc\xc3\xa9\n", b"a\nb\x0cB\nc\xc3\xa9\n"),
        (None, b"new\n"),
        (None, b""),
        (b"", b"x\n"),
        (b"".join(b"%d\n" % n for n in range(400)), b"".join(b"%d\n" % (n // 2) for n in range(400))),
    ],
    ids=["end", "adds-end", "takes-end", "crlf", "form-feed", "new", "new-empty", "from-empty", "long"],
)
@pytest.mark.parametrize("name", ["pkg/plain.py", "pkg/a b.py", "pkg/\u00e9\"q'.py"])
def test_git_takes_any_file(tmp_path: Path, name: str, before: bytes | None, after: bytes) -> None:
    tree = upstream(tmp_path, {} if before is None else {name: before})
    data = patch({name: (before, after)})
    git("apply", "--check", "-", cwd=tree, data=data)
    git("-c", "core.autocrlf=false", "apply", "--whitespace=nowarn", "-", cwd=tree, data=data)
    assert (tree / name).read_bytes() == after


def test_a_file_that_did_not_change_is_not_in_the_patch() -> None:
    assert patch({"a.py": (b"x\n", b"x\n")}) == b""


@pytest.fixture(scope="module")
def shown(demo: Path) -> str:
    """What the command writes into a pipe."""
    done = tritonport("diff", "demo", "out", cwd=demo)
    assert done.returncode == 0 and done.stderr == ""
    return done.stdout


def test_the_terminal_shows_rules_and_folds_white_space(shown: str) -> None:
    assert "\x1b" not in shown, "no colour into a pipe"
    lines = shown.splitlines()
    assert lines[0] == "demo/back.py"
    assert any(
        line.startswith("@@ ") and "halve_rows" in line and "early-return (exact)" in line for line in lines
    )
    assert any("changed in white space only" in line and "early-return" in line for line in lines)
    assert any(line.startswith("+ ") and line.rstrip().endswith("grid-collapse") for line in lines)
    assert "hunks in 2 files" in lines[-1]


def test_folded_lines_are_not_shown(shown: str) -> None:
    assert "+ " in shown and "+         at = " not in shown, "the indented body is folded"


def test_the_text_can_go_to_a_file(demo: Path, shown: str, tmp_path: Path) -> None:
    diff(str(demo / "demo"), demo / "out", to=tmp_path / "x.txt")
    assert (tmp_path / "x.txt").read_text() == shown


def test_other_sources_are_refused(demo: Path, tmp_path: Path) -> None:
    package(tmp_path / "demo", rows=KERNEL.replace("2 *", "3 *"))
    with pytest.raises(UserError, match="made from other sources"):
        diff(str(tmp_path / "demo"), demo / "out")


def test_no_file_no_hunk() -> None:
    assert [line.plain for line in diff_lines((), {})] == ["0 hunks in 0 files"]
