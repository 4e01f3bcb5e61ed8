"""Runs one compiler program: no input, a time limit, its whole process group ended when it is over."""

from __future__ import annotations

import contextlib
import math
import os
import resource
import signal
import subprocess
import tempfile
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from typing import IO

_SHOWN = 4_000_000
"""Bytes of each stream that are read; a stack dump has a few thousand."""


@dataclass(frozen=True, slots=True)
class Ended:
    """status: as the shell counts, negative for a signal; None when the time limit ended it; 127 when the
    program could not be started. output: standard error, then standard output."""

    status: int | None
    output: str


def run(command: Sequence[str], folder: Path, environment: Mapping[str, str], seconds: float) -> Ended:
    """Output goes to files: a program that prints without end cannot fill a pipe and hang."""
    with tempfile.TemporaryFile() as out, tempfile.TemporaryFile() as err:
        try:
            process = subprocess.Popen(
                command, cwd=folder, env=dict(environment), stdin=subprocess.DEVNULL,
                stdout=out, stderr=err, start_new_session=True,
            )  # fmt: skip
        except OSError as error:
            return Ended(127, f"cannot start {command[0]}: {error.strerror}")
        _bound(process.pid, seconds)
        try:
            status: int | None = process.wait(seconds)
        except subprocess.TimeoutExpired:
            status = None
        finally:
            _end_group(process)
        return Ended(status, _text(err) + _text(out))


def _bound(pid: int, seconds: float) -> None:
    """A compiler that hangs ends by itself too, should this process be killed while it waits."""
    limit = math.ceil(seconds) + 1
    with contextlib.suppress(ProcessLookupError, PermissionError, AttributeError):
        resource.prlimit(pid, resource.RLIMIT_CPU, (limit, limit))


def _end_group(process: subprocess.Popen[bytes]) -> None:
    with contextlib.suppress(ProcessLookupError, PermissionError):
        os.killpg(process.pid, signal.SIGKILL)
    process.wait()


def _text(file: IO[bytes]) -> str:
    file.seek(0)
    return file.read(_SHOWN).decode(errors="replace")


@cache
def without_randomisation() -> tuple[str, ...]:
    """The compiler's plan depends on pointer order; with fixed addresses it repeats. Not every container
    permits that; then the figures may move by up to a point between runs."""
    try:
        done = subprocess.run(["setarch", "-R", "true"], capture_output=True, check=False)
    except OSError:
        return ()
    return ("setarch", "-R") if done.returncode == 0 else ()
