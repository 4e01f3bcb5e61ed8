"""stdout carries the result alone, whatever reports are asked for; reports go where they were sent."""

from __future__ import annotations

import json
import os
import pty
import subprocess
from collections.abc import Callable
from pathlib import Path

import pytest

from tests.support.cli import KERNEL, SCRIPT, package, tritonport
from tritonport.cli.diff_cmd import diff
from tritonport.cli.report_cmd import render, report
from tritonport.errors import UserError


def test_reports_of_a_run_leave_stdout_to_the_result(tmp_path: Path) -> None:
    package(tmp_path / "demo", rows=KERNEL)
    names = {"html": "r.html", "sarif": "r.sarif", "markdown": "r.md", "junit": "r.xml", "json": "r.json"}
    wanted = [arg for name, file in names.items() for arg in ("--report", f"{name}={file}")]
    done = tritonport(
        "migrate", "demo", "-o", "out", *wanted, "--report", "github", "--format", "json", cwd=tmp_path
    )
    assert done.returncode == 0, done.stderr
    assert json.loads(done.stdout) == json.loads((tmp_path / "r.json").read_text())
    assert done.stderr.splitlines() == ["::notice title=tritonport::1 of 1 kernels converted"]
    run = json.loads(done.stdout)
    for name in ("html", "sarif", "markdown", "junit"):
        assert render(name, run, None) == (tmp_path / names[name]).read_text(encoding="utf-8"), name


def test_a_job_summary_is_appended_to(demo: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    summary = tmp_path / "summary.md"
    summary.write_text("# Before\n")
    inode = summary.stat().st_ino
    monkeypatch.setenv("GITHUB_STEP_SUMMARY", str(summary))
    report(demo / "run.json", summary, quiet=True)
    text = summary.read_text()
    assert text.startswith("# Before\n## ") and summary.stat().st_ino == inode


def on_a_terminal(*args: str, cwd: Path, **env: str) -> str:
    """What a command writes to stdout when that is a terminal."""
    master, slave = pty.openpty()
    child = {name: value for name, value in os.environ.items() if name not in ("NO_COLOR", "FORCE_COLOR")}
    with subprocess.Popen(
        [str(SCRIPT), *args],
        cwd=cwd,
        stdout=slave,
        stderr=subprocess.PIPE,
        env={**child, "TERM": "xterm", **env},
    ) as process:
        os.close(slave)
        data = b""
        while True:
            try:
                part = os.read(master, 65536)
            except OSError:  # the other end is closed
                break
            data += part
            if not part:
                break
        process.wait(60)
    os.close(master)
    return data.decode()


def test_colour_on_a_terminal_and_none_with_no_color(demo: Path) -> None:
    coloured = on_a_terminal("diff", "demo", "out", cwd=demo)
    assert "\x1b[32m" in coloured
    plain = on_a_terminal("diff", "demo", "out", cwd=demo, NO_COLOR="1")
    assert "\x1b[3" not in plain and "grid-collapse" in plain


def test_a_page_is_not_poured_into_a_terminal(demo: Path) -> None:
    assert on_a_terminal("report", "run.json", cwd=demo) == ""


MISTAKES: list[tuple[Callable[[Path], object], str]] = [
    (lambda at: report(at / "missing.json"), "no such file"),
    (lambda at: report(at / "demo/rows.py"), "not a run.json"),
    (lambda at: report(at / "other.json"), "not a record of schema"),
    (lambda at: report(at / "run.json", output_format="pdf"), "unknown format"),
    (lambda at: report(at / "run.json", at / "nowhere/x.html"), "cannot write a report"),
    (lambda at: report(at / "run.json", since=at / "old.json"), "holds no changes"),
    (lambda at: diff(str(at / "demo"), at / "demo"), "not made by tritonport"),
    (lambda at: diff(str(at / "demo"), at / "out", emit="tree"), "unknown --emit"),
]


@pytest.mark.parametrize(("call", "says"), MISTAKES, ids=[says for _, says in MISTAKES])
def test_a_mistake_is_told(demo: Path, call: Callable[[Path], object], says: str) -> None:
    (demo / "other.json").write_text("{}")
    old = json.loads((demo / "run.json").read_text())
    del old["changes"]
    (demo / "old.json").write_text(json.dumps(old))
    with pytest.raises(UserError, match=says):
        call(demo)


def test_a_mistake_is_one_line(demo: Path) -> None:
    done = tritonport("report", "missing.json", cwd=demo)
    assert (done.returncode, done.stdout) == (2, "")
    (line,) = done.stderr.splitlines()
    assert line.startswith("tritonport: missing.json: no such file")
