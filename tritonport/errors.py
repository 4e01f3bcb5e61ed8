"""What a user sees when something is wrong: one line that names the place and the way out."""

from __future__ import annotations

from dataclasses import dataclass
from enum import IntEnum


class ExitCode(IntEnum):
    """Exit statuses of every command; when several apply, the order of precedence is 2, 4, 3, 1."""

    OK = 0
    FINDINGS = 1
    """Something is unresolved or differs."""
    USAGE = 2
    """Usage, configuration or internal error; nothing was written."""
    MISMATCH = 3
    """Numbers differ, or a hazard was found."""
    COMPILER = 4
    """The target compiler refused what was emitted."""


_PRECEDENCE = (ExitCode.USAGE, ExitCode.COMPILER, ExitCode.MISMATCH, ExitCode.FINDINGS, ExitCode.OK)


def worst(*codes: ExitCode) -> ExitCode:
    """The code that a run with all of these outcomes exits with."""
    return min(codes, key=_PRECEDENCE.index, default=ExitCode.OK)


@dataclass(eq=False)
class UserError(Exception):
    """A mistake in what the user gave. Printed as one line, exit 2, nothing left behind.

    message: what is wrong. hint: the way out. file, line: where, when there is a place.
    """

    message: str
    hint: str = ""
    file: str | None = None
    line: int | None = None

    def __str__(self) -> str:
        place = "" if self.file is None else f"{self.file}:{self.line}: " if self.line else f"{self.file}: "
        return f"{place}{self.message}" + (f" ({self.hint})" if self.hint else "")
