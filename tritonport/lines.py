"""The lines of a Python text, as Python counts them.

`str.splitlines` also breaks at form feeds and at separators of Unicode, which may stand inside a line of source.
"""

from __future__ import annotations

import io


def split_lines(text: str) -> list[str]:
    """The lines with their ends (line feed, carriage return, or both); the last may have none."""
    return list(io.StringIO(text, newline=""))


def bare(line: str) -> str:
    """A line of `split_lines` without its end."""
    return line.rstrip("\r\n")


def bare_lines(text: str) -> list[str]:
    """The lines without their ends."""
    return [bare(line) for line in split_lines(text)]


def newline_of(text: str) -> str:
    """The line end of the first line; a line feed where no line ends."""
    first = next(iter(split_lines(text)), "")
    return first[len(bare(first)) :] or "\n"
