"""A migration on the terminal: each hunk with its rules beside the lines, white space folded."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from itertools import groupby
from typing import Any

from rich.console import Console
from rich.text import Text

from tritonport.report.sides import Cell, Row, rows_of
from tritonport.report.since import hunk_rules

RULES = 96
"""Column at which the rules stand, where the line leaves room."""
CLASS_STYLES = {"exact": "green", "reordered": "yellow", "assumed": "yellow", "manual": "red"}
OLD, NEW = ("-", "red", "bold red"), ("+", "green", "bold green")


def print_diff(files: Sequence[Mapping[str, Any]], classes: Mapping[str, str], console: Console) -> None:
    """files: `changes.files` of run.json. classes: of the rules. Lines are never wrapped."""
    for line in diff_lines(files, classes):
        console.print(line, soft_wrap=True, highlight=False)


def diff_lines(files: Sequence[Mapping[str, Any]], classes: Mapping[str, str]) -> Iterator[Text]:
    """The lines: a head per file and per hunk, then the hunk, a total at the end."""
    hunks = 0
    for file in files:
        yield Text(file["path"], "bold underline")
        for hunk in file["hunks"]:
            hunks += 1
            yield _head(hunk, classes)
            yield from _body(rows_of(hunk), classes)
    yield Text(f"{hunks} hunks in {len(files)} files", "bold")


def _head(hunk: Mapping[str, Any], classes: Mapping[str, str]) -> Text:
    line = Text(f"@@ {hunk['before']} -> {hunk['after']} {hunk['function']}", "cyan")
    for slug in sorted(hunk_rules(hunk)):
        kind = classes.get(slug, "exact")
        line.append(f"  {slug} ({kind})", CLASS_STYLES[kind])
    return line


def _body(rows: Sequence[Row], classes: Mapping[str, str]) -> Iterator[Text]:
    for kind, group in groupby(rows, key=lambda row: row.kind):
        own = list(group)
        if kind == "same":
            yield from (Text(f"  {row.new.text if row.new else ''}", "dim") for row in own)
        elif kind == "space":
            rules = ", ".join(sorted({slug for row in own for slug in row.rules}))
            lines = "1 line" if len(own) == 1 else f"{len(own)} lines"
            yield Text(f"~ {lines} changed in white space only  {rules}", "dim italic")
        else:
            yield from _changed(own, classes)


def _changed(rows: Sequence[Row], classes: Mapping[str, str]) -> Iterator[Text]:
    """All old lines, then all new ones, as a patch has them; a rule is named where it begins."""
    for cells, style in (([row.old for row in rows], OLD), ([row.new for row in rows], NEW)):
        before: tuple[str, ...] = ()
        for cell in cells:
            if cell is not None:
                yield _line(cell, style, () if cell.rules == before else cell.rules, classes)
                before = cell.rules


def _line(cell: Cell, style: tuple[str, str, str], rules: Sequence[str], classes: Mapping[str, str]) -> Text:
    sign, plain, marked = style
    line = Text(f"{sign} ", plain)
    for part in cell.parts:
        line.append(part.text, marked if part.marked else plain)
    if rules:
        line.append(" " * max(2, RULES - len(line.plain)))
        for slug in rules:
            line.append(f" {slug}", f"dim {CLASS_STYLES[classes.get(slug, 'exact')]}")
    return line
