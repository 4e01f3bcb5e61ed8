"""Inputs that are wrong in one way each, written at run time."""

from __future__ import annotations

from pathlib import Path

GOOD = '''"""A kernel that nothing is wrong with."""

import torch
import triton
import triton.language as tl


@triton.jit
def double(src, dst, SPAN: tl.constexpr):
    at = tl.program_id(0) * SPAN + tl.arange(0, SPAN)
    tl.store(dst + at, 2.0 * tl.load(src + at))


def run_double(src):
    dst = torch.empty_like(src)
    double[(src.numel() // 8,)](src, dst, SPAN=8)
    return dst
'''

OPAQUE = """

@triton.heuristics({"SPAN": lambda args: 8})
@triton.jit
def halve(src, dst, SPAN: tl.constexpr):
    at = tl.program_id(0) * SPAN + tl.arange(0, SPAN)
    tl.store(dst + at, 0.5 * tl.load(src + at))


def run_halve(src, planner):
    dst = torch.empty_like(src)
    halve[planner.shape_of(src)](src, dst)
    return dst


META = {"outcome": {"double": "converted", "halve": "not-converted"}}


class Planner:
    def shape_of(self, src):
        return (src.numel() // 8,)


def make_inputs(device):
    return {"src": torch.randn(32, device=device)}


def launch(src):
    return run_double(src), run_halve(src, Planner())


def reference(src):
    return 2.0 * src, 0.5 * src
"""


def good(folder: Path) -> Path:
    return _write(folder / "good.py", GOOD.encode())


def opaque_grid(folder: Path) -> Path:
    """Two kernels; the grid of one, which is tuned, is made by an object that the caller hands in."""
    return _write(folder / "opaque_grid.py", (GOOD + OPAQUE).encode())


def syntax_error(folder: Path) -> Path:
    """The error is in the last line."""
    return _write(folder / "syntax_error.py", (GOOD + "\n\ndef broken(:\n").encode())


def deep_expression(folder: Path) -> Path:
    """A sum of two thousand terms, which Python parses and no recursive tool walks."""
    return _write(folder / "deep.py", f"import triton\n\nTOTAL = {' + '.join(['1'] * 2000)}\n".encode())


def not_utf8(folder: Path) -> Path:
    """A Latin-1 comment in the first line, without a coding line."""
    return _write(folder / "not_utf8.py", b"# caf\xe9\n" + GOOD.encode())


def not_python(folder: Path) -> Path:
    return _write(folder / "notes.txt", b"not a program\n")


def half_broken_package(folder: Path) -> Path:
    """A package of two modules, one of which does not parse."""
    package = folder / "half"
    _write(package / "__init__.py", b"from .good import run_double\nfrom .bad import anything\n")
    _write(package / "good.py", GOOD.encode())
    _write(package / "bad.py", b"def anything(:\n")
    return package


def _write(path: Path, data: bytes) -> Path:
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_bytes(data)
    return path
