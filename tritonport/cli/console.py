"""What every command shares: a progress bar on a terminal, notes on stderr, the result alone on stdout."""

from __future__ import annotations

import os
import sys
from collections.abc import Callable, Generator
from contextlib import contextmanager

from rich.console import Console
from rich.progress import BarColumn, MofNCompleteColumn, Progress, TextColumn, TimeElapsedColumn

Show = Callable[[str, int, int], None]


class _Stdout(Console):
    """A reader that has seen enough (`| head`) changes nothing: the command ends as it would have ended."""

    def on_broken_pipe(self) -> None:
        self.quiet = True
        silence_stdout()


def silence_stdout() -> None:
    """What is written from now on goes nowhere; Python would complain at its end about what it could not flush."""
    nowhere = os.open(os.devnull, os.O_WRONLY)
    os.dup2(nowhere, sys.stdout.fileno())
    os.close(nowhere)


def stdout() -> Console:
    """Where a command's result goes. NO_COLOR and a pipe are honoured by rich."""
    return _Stdout()


def note(text: str, *, quiet: bool = False) -> None:
    """One line for the user that is not the result."""
    if not quiet:
        Console(stderr=True).print(text, soft_wrap=True, highlight=False, markup=False)


@contextmanager
def progress_bar(*, quiet: bool = False) -> Generator[Show]:
    """A progress bar on stderr, where that is a terminal; nothing otherwise."""
    console = Console(stderr=True)
    columns = (TextColumn("{task.description}"), BarColumn(), MofNCompleteColumn(), TimeElapsedColumn())
    with Progress(*columns, console=console, transient=True, disable=quiet or not console.is_terminal) as bar:
        task = bar.add_task("", total=None)

        def show(step: str, done: int, total: int) -> None:
            bar.update(task, description=step, completed=done, total=total)

        yield show
