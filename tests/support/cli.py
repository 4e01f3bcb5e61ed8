"""Runs the command line as a user does: the installed script in a process of its own."""

from __future__ import annotations

import contextlib
import io
import os
import subprocess
import sys
from collections.abc import Callable, Generator
from pathlib import Path
from unittest import mock

from tritonport.cli import app

SCRIPT = Path(sys.executable).with_name("tritonport")

KERNEL = '''\
"""Doubles each element."""

import torch
import triton
import triton.language as tl


@triton.jit
def double_rows(src, dst, size, TILE: tl.constexpr):
    at = tl.program_id(0) * TILE + tl.arange(0, TILE)
    tl.store(dst + at, 2 * tl.load(src + at, mask=at < size), mask=at < size)


def double(src):
    dst = torch.empty_like(src)
    double_rows[(triton.cdiv(src.numel(), 16),)](src, dst, src.numel(), TILE=16)
    return dst
'''
"""A module with one kernel that is migrated without a remark."""

ODD_KERNEL = (
    KERNEL.replace("double", "odd")
    .replace("\n\n@triton.jit", '\n@triton.heuristics({"TILE": lambda args: 16})\n@triton.jit')
    .replace(", TILE=16)", ")")
    .replace("(triton.cdiv(src.numel(), 16),)", "src.shape")
)
"""Another one whose grid nobody follows: the kernel is tuned, and the grid no tuple that is written out."""


def tritonport(
    *args: str | Path, cwd: Path, before: Callable[[], None] | None = None, seconds: float = 120
) -> subprocess.CompletedProcess[str]:
    """before: called in the child, ahead of the program. seconds: after which the call fails."""
    command = [str(SCRIPT), *map(str, args)]
    return subprocess.run(
        command, cwd=cwd, capture_output=True, text=True, timeout=seconds, check=False, preexec_fn=before
    )


@contextlib.contextmanager
def _inside(folder: Path) -> Generator[None]:
    before = Path.cwd()
    os.chdir(folder)
    try:
        yield
    finally:
        os.chdir(before)


def in_process(*args: str | Path, cwd: Path) -> subprocess.CompletedProcess[str]:
    """The same without a process of its own: no import of everything again, for tests with many calls."""
    out, err = io.StringIO(), io.StringIO()
    command = ["tritonport", *map(str, args)]
    with (
        mock.patch.object(sys, "argv", command),
        _inside(cwd),
        contextlib.redirect_stdout(out),
        contextlib.redirect_stderr(err),
    ):
        code = app._run()
    return subprocess.CompletedProcess(command, code, out.getvalue(), err.getvalue())


def package(folder: Path, **modules: str) -> Path:
    """A package of that name with an empty __init__ and these modules."""
    folder.mkdir(parents=True)
    (folder / "__init__.py").write_text("")
    for name, text in modules.items():
        (folder / f"{name}.py").write_text(text, encoding="utf-8")
    return folder


def contents(folder: Path) -> dict[str, bytes | None]:
    """Everything below a folder by relative path: bytes of files, None for folders."""
    return {
        path.relative_to(folder).as_posix(): path.read_bytes() if path.is_file() else None
        for path in sorted(folder.rglob("*"))
    }
