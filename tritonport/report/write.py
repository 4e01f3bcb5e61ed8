"""Report files: `--report FMT=PATH`, checked before the work starts and written in one rename."""

from __future__ import annotations

import os
import sys
import tempfile
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path

from tritonport.errors import UserError
from tritonport.record import RunRecord
from tritonport.report.github import github
from tritonport.report.junit import junit
from tritonport.report.markdown import markdown
from tritonport.report.review import review_html
from tritonport.report.run_json import run_json
from tritonport.report.sarif import sarif
from tritonport.report.text import run_lines


def run_text(record: RunRecord) -> str:
    """The terminal report as plain text."""
    return "".join(f"{line.plain}\n" for line in run_lines(record))


FORMATS: dict[str, Callable[[RunRecord], str]] = {
    "json": run_json,
    "text": run_text,
    "html": lambda record: review_html(record.to_json()),
    "sarif": lambda record: sarif(record.to_json()),
    "markdown": lambda record: markdown(record.to_json()),
    "junit": lambda record: junit(record.to_json()),
    "github": lambda record: github(record.to_json()),
}
WITHOUT_PATH = ("github",)
"""Formats that a runner reads from the log: without a path they go to stderr, so that stdout keeps the result."""
SUMMARY = "GITHUB_STEP_SUMMARY"
"""Names the file that a job summary is appended to; the runner watches this very file."""


@dataclass(frozen=True, slots=True)
class ReportFile:
    """One report to write. path: None for stderr."""

    render: Callable[[RunRecord], str]
    path: Path | None


def parse_report(text: str, out: Path | None = None) -> ReportFile:
    """`json=run.json` as a report file; `github` alone is for stderr. out: a folder that the run makes.

    Raises UserError for an unknown format and for a folder that is missing or cannot be written.
    """
    name, sign, target = text.partition("=")
    if name in WITHOUT_PATH and not sign:
        return ReportFile(FORMATS[name], None)
    if name not in FORMATS or not sign or not target:
        raise UserError(f"cannot read --report {text!r}", f"write FORMAT=PATH, formats: {', '.join(FORMATS)}")
    check_target(Path(target), out)
    return ReportFile(FORMATS[name], Path(target).absolute())


def check_target(target: Path, out: Path | None = None) -> None:
    """Raises UserError where no file can be written. out: a folder that is made before it is written."""
    path = target.absolute()
    made = out is not None and path.parent == out.absolute()
    if path.is_dir() or not (made or os.access(path.parent, os.W_OK)):
        raise UserError(f"cannot write a report to {target}", "its folder must exist and be writable")


def write_report(report: ReportFile, record: RunRecord) -> None:
    """Write the report at once, so that a reader never sees half of one."""
    text = report.render(record)
    if report.path is None:
        sys.stderr.write(text)
    else:
        write_bytes(report.path, text.encode())


def write_bytes(path: Path, data: bytes) -> None:
    """Write beside the place and rename. A job summary is appended to, since the runner keeps its file open."""
    path = path.absolute()
    if path == Path(os.environ.get(SUMMARY) or os.devnull).absolute():
        with path.open("ab") as summary:
            summary.write(data)
        return
    try:
        handle, name = tempfile.mkstemp(prefix=f".{path.name}-", dir=path.parent)
    except OSError as error:
        raise UserError(f"cannot write {path}", error.strerror or "") from error
    try:
        with os.fdopen(handle, "wb") as file:
            file.write(data)
        Path(name).chmod(0o644)
        Path(name).replace(path)
    except BaseException:
        Path(name).unlink(missing_ok=True)
        raise
