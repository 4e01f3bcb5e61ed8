"""stdout carries the result alone, whatever reports are asked for; reports go where they were sent."""

from __future__ import annotations

import json
import os
import pty
import subprocess
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from tests.support.cli import KERNEL, SCRIPT, package, tritonport
from tritonport import __version__
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


def in_a_shell(line: str, cwd: Path) -> subprocess.CompletedProcess[str]:
    """A line of bash in which `tritonport` is this one; the status is the command's, not that of what reads it."""
    return subprocess.run(
        ["bash", "-o", "pipefail", "-c", line],
        cwd=cwd,
        env={**os.environ, "PATH": f"{SCRIPT.parent}{os.pathsep}{os.environ['PATH']}"},
        capture_output=True,
        text=True,
        check=False,
    )


@pytest.mark.parametrize(
    ("command", "code"),
    [
        ("diff demo out | head -n 1", 0),
        ("report run.json --format sarif | head -c 1", 0),
        ("migrate demo -o again --format json | head -c 1", 1),
        ("report run.json --format markdown >&-", 0),
        ("diff demo out --emit patch >&-", 0),
    ],
)
def test_a_reader_that_stops_changes_no_exit_status(demo: Path, command: str, code: int) -> None:
    done = in_a_shell(f"tritonport {command}", demo)
    assert (done.returncode, done.stderr) == (code, "")


def test_a_full_disk_is_one_line(demo: Path) -> None:
    done = in_a_shell("tritonport diff demo out > /dev/full", demo)
    assert (done.returncode, done.stderr) == (2, "tritonport: No space left on device\n")


FOREIGN: list[Callable[[dict[str, Any]], object]] = [
    lambda run: run["kernels"][0].pop("tiers"),
    lambda run: run.update(kernels="none"),
    lambda run: run.update(kernels=[{"name": "a:b"}]),
    lambda run: run["changes"]["files"][0]["hunks"][0]["lines"].insert(0, 5),
    lambda run: run["kernels"][0].update(tiers={"parse": "pass"}),
]


@pytest.mark.parametrize("change", FOREIGN)
@pytest.mark.parametrize("name", ["html", "sarif", "markdown", "junit", "github"])
def test_a_record_of_another_version_is_told(
    demo: Path, tmp_path: Path, change: Callable[[dict[str, Any]], object], name: str
) -> None:
    run = json.loads((demo / "run.json").read_text())
    change(run)
    (tmp_path / "run.json").write_text(json.dumps(run))
    try:
        report(tmp_path / "run.json", tmp_path / "to", output_format=name, quiet=True)
    except UserError as error:
        assert f"not a record as this version writes it; tritonport {__version__} made it" in str(error)
        assert not (tmp_path / "to").exists()
    else:
        assert name not in ("html", "sarif"), "these read every part"


def test_an_empty_run_has_every_report(demo: Path, tmp_path: Path) -> None:
    run = json.loads((demo / "run.json").read_text())
    run["kernels"], run["changes"]["files"] = [], []
    run["summary"] = dict.fromkeys(run["summary"], 0)
    (tmp_path / "run.json").write_text(json.dumps(run))
    for name in ("html", "sarif", "markdown", "junit", "github"):
        report(
            tmp_path / "run.json",
            tmp_path / name,
            demo / "run.json" if name == "html" else None,
            output_format=name,
            quiet=True,
        )
        assert (tmp_path / name).stat().st_size
