"""A hunk side by side: which old line stands beside which new one, and which words of them differ."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from difflib import SequenceMatcher
from itertools import groupby
from typing import Any, Literal

Kind = Literal["same", "space", "change"]
ALIKE = 0.6
"""Lines less alike than this are shown whole, since marks on their words would not help."""


@dataclass(frozen=True, slots=True)
class Part:
    """A run of characters; marked where the other side has something else."""

    text: str
    marked: bool = False


@dataclass(frozen=True, slots=True)
class Cell:
    """One line on one side."""

    number: int
    parts: tuple[Part, ...]
    rules: tuple[str, ...] = ()

    @property
    def text(self) -> str:
        return "".join(part.text for part in self.parts)


@dataclass(frozen=True, slots=True)
class Row:
    """kind: same, changed in white space only, or changed. A missing cell is None."""

    kind: Kind
    old: Cell | None
    new: Cell | None

    @property
    def rules(self) -> tuple[str, ...]:
        cells = (self.old, self.new)
        return tuple(sorted({slug for cell in cells if cell is not None for slug in cell.rules}))


@dataclass(frozen=True, slots=True)
class _Text:
    number: int
    text: str
    rules: tuple[str, ...]


def rows_of(hunk: Any) -> tuple[Row, ...]:
    """The rows of one hunk of run.json."""
    rows: list[Row] = []
    old, new = int(hunk["before"]), int(hunk["after"])
    for same, group in groupby(hunk["lines"], key=lambda line: line[0] == "="):
        lines = list(group)
        if same:
            for line in lines:
                parts = (Part(line[1]),)
                rows.append(Row("same", Cell(old, parts), Cell(new, parts)))
                old, new = old + 1, new + 1
            continue
        for left, right in _runs(lines):
            rows += _paired(_numbered(left, old), _numbered(right, new))
            old, new = old + len(left), new + len(right)
    return tuple(rows)


def _runs(lines: Sequence[Any]) -> Iterator[tuple[list[Any], list[Any]]]:
    """The old lines of each change with the new ones that follow them."""
    left: list[Any] = []
    right: list[Any] = []
    for line in lines:
        if line[0] == "-" and right:
            yield left, right
            left, right = [], []
        (left if line[0] == "-" else right).append(line)
    yield left, right


def _numbered(lines: Sequence[Any], first: int) -> list[_Text]:
    return [
        _Text(first + at, line[1], tuple(line[2]) if len(line) > 2 else ()) for at, line in enumerate(lines)
    ]


def _paired(old: list[_Text], new: list[_Text]) -> Iterator[Row]:
    """Lines that differ in white space stand side by side; the others in order, as far as they go."""
    stripped = [[line.text.strip() for line in side] for side in (old, new)]
    for tag, i1, i2, j1, j2 in SequenceMatcher(None, *stripped, autojunk=False).get_opcodes():
        if tag == "equal":
            for left, right in zip(old[i1:i2], new[j1:j2], strict=True):
                yield Row("space", _cell(left), _cell(right))
            continue
        for at in range(max(i2 - i1, j2 - j1)):
            left = old[i1 + at] if i1 + at < i2 else None
            right = new[j1 + at] if j1 + at < j2 else None
            yield _row(left, right)


def _row(left: _Text | None, right: _Text | None) -> Row:
    if left is None or right is None:
        return Row("change", left and _cell(left), right and _cell(right))
    words = [_words(line.text) for line in (left, right)]
    matcher = SequenceMatcher(None, *words, autojunk=False)
    if matcher.ratio() < ALIKE:
        return Row("change", _cell(left), _cell(right))
    parts: list[list[Part]] = [[], []]
    for tag, *bounds in matcher.get_opcodes():
        for side, (start, end) in enumerate((bounds[:2], bounds[2:])):
            if end > start:
                parts[side].append(Part("".join(words[side][start:end]), tag != "equal"))
    return Row(
        "change",
        Cell(left.number, tuple(parts[0]), left.rules),
        Cell(right.number, tuple(parts[1]), right.rules),
    )


def _cell(line: _Text) -> Cell:
    return Cell(line.number, (Part(line.text),), line.rules)


def _words(text: str) -> list[str]:
    """Names and numbers whole, everything else character by character."""
    words: list[str] = []
    for is_word, group in groupby(text, key=lambda c: c.isalnum() or c == "_"):
        run = "".join(group)
        words += [run] if is_word else run
    return words
