"""Workflow commands of GitHub Actions: annotations, as many as a step may have."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Final

from tritonport.report.figures import Run
from tritonport.report.findings import Finding, Level, findings

MOST: Final = 10
"""Annotations of one level that GitHub shows of one step (actions/toolkit#734); what is over is dropped silently."""
LONGEST: Final = 4000
"""Characters of a message; GitHub cuts an annotation at 64 KiB."""
COMMANDS: Final[dict[Level, str]] = {"error": "error", "warning": "warning", "note": "notice"}


def github(run: Run) -> str:
    """The commands, one a line, errors first; a last notice says how many findings had no room."""
    return "".join(f"{line}\n" for line in _lines(run))


def _lines(run: Run) -> Iterator[str]:
    open_ = [found for found in findings(run) if found.accepted is None]
    left = 0
    for level in COMMANDS:
        own = [found for found in open_ if found.level == level]
        room = MOST - 1 if level == "note" else MOST
        yield from (_command(found) for found in own[:room])
        left += max(0, len(own) - room)
    counts = run["summary"]
    text = f"{counts['converted']} of {counts['kernels']} kernels converted"
    if left:
        text += f"; {left} more findings are in the report"
    yield f"::notice title=tritonport::{_data(text)}"


def _command(found: Finding) -> str:
    properties = {"file": found.file, "line": str(found.line), "title": f"tritonport {found.rule}"}
    text = f"{found.kernel}: {found.text}" if found.kernel else found.text
    said = ",".join(f"{name}={_property(value)}" for name, value in properties.items())
    return f"::{COMMANDS[found.level]} {said}::{_data(text)}"


def _data(text: str) -> str:
    """Escaped as the runner reads it back."""
    text = text if len(text) <= LONGEST else f"{text[: LONGEST - 1]}…"
    return text.replace("%", "%25").replace("\r", "%0D").replace("\n", "%0A")


def _property(text: str) -> str:
    return _data(text).replace(":", "%3A").replace(",", "%2C")
