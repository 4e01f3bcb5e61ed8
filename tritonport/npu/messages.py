"""Compiler output -> located messages. The compiler prints MLIR diagnostics, its own notes, and stack dumps."""

from __future__ import annotations

import re
import signal
from collections.abc import Iterable

from tritonport.npu.measure import Kind, Message

_LOC = re.compile(r"^(?P<loc>loc\(.*?\)+|<unknown>:0|[^\s:\"()]+:\d+:\d+): error: (?P<text>.*)$")
_PLACE = re.compile(r'"([^"]+)":(\d+):\d+')
_PLAIN_PLACE = re.compile(r"^([^\s:\"()]+):(\d+):\d+$")
_OVERFLOW = re.compile(r"\b(ub|cbuf|cc) overflow, requires (\d+) bits while (\d+) bits available")
_RETRY = re.compile(r"^\[NOTE\] \w+ overflow detected; automatically set (.+?) and retrying compilation", re.MULTILINE)
_ASSERTION = re.compile(r"Assertion `.*' failed|UNREACHABLE executed|LLVM ERROR: .*")
_LEGALISATION = re.compile(r"failed to legalize|failed to (?:convert|lower)|not? support|unsupported|illegal", re.IGNORECASE)

MEMORIES = {"ub": "UB", "cbuf": "L1", "cc": "L0C"}
"""The compiler's names of address spaces, and the hardware's."""

_FOLLOW_UPS = ("Failed to run BiSheng", "External hivmc run fails", "Failed to run BiShengHIR pipeline")
"""Says that something failed after the message that says what."""


def retries(output: str) -> tuple[str, ...]:
    """What the compiler switched off by itself (1.2.0): `enable-code-motion to false`, ..."""
    return tuple(_RETRY.findall(output))


def place_of(location: str) -> tuple[str | None, int | None]:
    """File and line of an MLIR location. Of a call site the callee's: the line that the value comes from.

    Line 0 and the compiler's own input file are no places of a source.
    """
    plain = _PLAIN_PLACE.match(location)
    found = [plain.groups()] if plain else _PLACE.findall(location)
    for file, line in found:
        if file.endswith(".py") and int(line) > 0:
            return file, int(line)
    return None, None


def read_messages(output: str) -> tuple[Message, ...]:
    """Every error of one run, overflows first, each text once."""
    found = [message for line in output.splitlines() for message in _of_line(line.strip())]
    unique = {(m.kind, m.text): m for m in reversed(found)}
    ordered = sorted(reversed(unique.values()), key=lambda m: m.kind != "overflow")
    return tuple(ordered)


def _of_line(line: str) -> Iterable[Message]:
    match = _LOC.match(line)
    if match:
        text = match.group("text").strip()
        if not text.startswith(_FOLLOW_UPS):
            yield _located(text, *place_of(match.group("loc")))
    elif _ASSERTION.search(line):
        yield Message("assertion", _ASSERTION.search(line).group(0))  # type: ignore[union-attr]


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
