"""Compiler output -> located messages. It prints MLIR diagnostics, its own notes, and stack dumps."""

from __future__ import annotations

import re
import signal
from collections.abc import Iterable, Sequence

from tritonport.npu.measure import Kind, Message

_ERROR = re.compile(r"^(?P<place>(?:(?!: (?:note|warning): ).)+?): error: (?P<text>.*)$")
_CALLED_FROM = re.compile(r"^(?P<place>.+?): note: called from")
_PLACE = re.compile(r'"([^"]+)":(\d+):\d+')
_PLAIN_PLACE = re.compile(r"^([^\"()]+):(\d+):\d+$")
_OVERFLOW = re.compile(r"\b(ub|cbuf|cc) overflow, requires (\d+) bits while (\d+) bits available")
_RETRY = re.compile(
    r"^\[NOTE\] \w+ overflow detected; automatically set (.+?) and retrying compilation", re.MULTILINE
)
_ASSERTION = re.compile(r"Assertion `.*' failed|UNREACHABLE executed|LLVM ERROR: .*")
_LEGALISATION = re.compile(
    r"failed to legalize|failed to (?:convert|lower)|not? support|unsupported|illegal", re.IGNORECASE
)

Place = tuple[str | None, int | None]

LIBRARY = "~toolchain/"
"""Stands in the IR for the folder of the toolchain's own Python packages."""

MEMORIES = {"ub": "UB", "cbuf": "L1", "cc": "L0C"}
"""The compiler's names of address spaces, and the hardware's."""

_FOLLOW_UPS = ("Failed to run BiSheng", "External hivmc run fails", "Failed to run buildFinalHIVMPipelines")
"""Says that something failed after the message that says what."""


def retries(output: str) -> tuple[str, ...]:
    """What the compiler switched off by itself (1.2.0): `enable-code-motion to false`, ..."""
    return tuple(_RETRY.findall(output))


def place_of(location: str) -> Place:
    """File and line of an MLIR location. Of a call site the innermost place that is no library's.

    Line 0 and the compiler's own input file are no places of a source.
    """
    plain = _PLAIN_PLACE.match(location)
    found = [plain.groups()] if plain else _PLACE.findall(location)
    for file, line in found:
        if file.endswith(".py") and int(line) > 0 and not file.startswith(LIBRARY):
            return file, int(line)
    return None, None


def read_messages(output: str) -> tuple[Message, ...]:
    """Every error of one run, overflows first, each text once."""
    lines = [line.strip() for line in output.splitlines()]
    found = [message for at, line in enumerate(lines) for message in _of_line(line, lines[at + 1 :])]
    unique: dict[tuple[str, str], Message] = {}
    for message in found:
        unique.setdefault((message.kind, message.text), message)
    return tuple(sorted(unique.values(), key=lambda message: message.kind != "overflow"))


def _of_line(line: str, following: Sequence[str]) -> Iterable[Message]:
    error, assertion = _ERROR.match(line), _ASSERTION.search(line)
    if error:
        text = error.group("text").strip()
        if not text.startswith(_FOLLOW_UPS):
            place = place_of(error.group("place"))
            yield _located(text, *(place if place[0] else _caller(following)))
    elif assertion:
        yield Message("assertion", assertion.group(0))


def _caller(following: Sequence[str]) -> Place:
    """For an error inside a library: the first call of it, in the notes up to the next error."""
    for line in following:
        if _ERROR.match(line):
            break
        note = _CALLED_FROM.match(line)
        place = place_of(note.group("place")) if note else (None, None)
        if place[0]:
            return place
    return None, None


def _located(text: str, file: str | None, line: int | None) -> Message:
    overflow = _OVERFLOW.search(text)
    if overflow:
        name, requires, limit = overflow.groups()
        memory = MEMORIES[name]
        said = f"{memory} overflow, requires {requires} bits while {limit} bits available"
        return Message("overflow", said, file, line, memory, int(requires), int(limit))
    kind: Kind = "legalisation" if _LEGALISATION.search(text) else "front-end"
    return Message(kind, text, file, line)


def ended_by_signal(status: int) -> int | None:
    """The signal that ended a process, also when a shell in between turned it into 128 + n."""
    if status < 0:
        return -status
    return status - 128 if 128 < status < 160 else None


def crash(stage: str, number: int, output: str) -> Message:
    """A crash, with the assertion that caused it when one was printed."""
    try:
        name = signal.Signals(number).name
    except ValueError:
        name = f"signal {number}"
    cause = _ASSERTION.search(output)
    return Message("crash", f"{stage} crashed ({name})" + (f": {cause.group(0)}" if cause else ""))
