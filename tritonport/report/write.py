"""Report files: `--report FMT=PATH`, checked before the work starts and written in one rename."""

from __future__ import annotations

import os
import tempfile
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path

from tritonport.errors import UserError
from tritonport.record import RunRecord
from tritonport.report.run_json import run_json
from tritonport.report.text import run_lines


def run_text(record: RunRecord) -> str:
    """The terminal report as plain text."""
    return "".join(f"{line.plain}\n" for line in run_lines(record))


FORMATS: dict[str, Callable[[RunRecord], str]] = {"json": run_json, "text": run_text}


@dataclass(frozen=True, slots=True)
class ReportFile:
    """One report to write."""

    render: Callable[[RunRecord], str]
    path: Path


def parse_report(text: str, out: Path | None = None) -> ReportFile:
    """`json=run.json` as a report file. out: a folder that the run makes, so it need not be there yet.

    Raises UserError for an unknown format and for a folder that is missing or cannot be written.
    """
    name, sign, target = text.partition("=")
    if name not in FORMATS or not sign or not target:
        raise UserError(f"cannot read --report {text!r}", f"write FORMAT=PATH, formats: {', '.join(FORMATS)}")
    path = Path(target).absolute()
    made = out is not None and path.parent == out.absolute()
    if path.is_dir() or not (made or os.access(path.parent, os.W_OK)):
        raise UserError(f"cannot write a report to {target}", "its folder must exist and be writable")
    return ReportFile(FORMATS[name], path)


def write_report(report: ReportFile, record: RunRecord) -> None:
    """Write the report beside its place and rename it, so that a reader never sees half of one."""
    handle, name = tempfile.mkstemp(prefix=f".{report.path.name}-", dir=report.path.parent)
    try:
        with os.fdopen(handle, "w", encoding="utf-8") as file:
            file.write(report.render(record))
        Path(name).chmod(0o644)
        Path(name).replace(report.path)
    except BaseException:
        Path(name).unlink(missing_ok=True)
        raise
