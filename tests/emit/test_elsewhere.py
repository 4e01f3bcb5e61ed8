"""Modules that use a migrated kernel and are not migrated with it."""

from __future__ import annotations

from pathlib import Path

from tritonport.migrate import MigrateOptions, migrate_tree
from tritonport.sources import resolve

KERNEL = """
import triton
import triton.language as tl


@triton.jit
def scale(x, y, T, N: tl.constexpr):
    o = tl.program_id(0) * N + tl.arange(0, N)
    tl.store(y + o, tl.load(x + o, mask=o < T) * 2 + tl.program_id(1), mask=o < T)
"""
HOST = """
import triton
{imported}


def run(x, y, rows):
    {name}[(triton.cdiv(x.shape[0], 16), rows)](x, y, x.shape[0], N=16)
"""


def _notes(folder: Path, entry: str) -> list[str]:
    out = folder.parent / "out"
    result = migrate_tree(resolve(str(folder / entry)), out, MigrateOptions(), lambda *_: None)
    (kernel,) = [k for k in result.record.kernels if k.name.endswith(":scale")]
    assert result.exit_code == 0
    return [note for note in kernel.notes if "also used" in note]


def _write(folder: Path, files: dict[str, str]) -> Path:
    for name, text in files.items():
        (folder / name).parent.mkdir(parents=True, exist_ok=True)
        (folder / name).write_text(text)
    return folder


def _package(folder: Path, imported: str, name: str) -> Path:
    return _write(
        folder / "pkg",
        {
            "lib/__init__.py": "from .kernels import scale\n",
            "lib/kernels.py": KERNEL,
            "lib/first.py": HOST.format(imported="from .kernels import scale", name="scale"),
            "lib/deep/__init__.py": "",
            "lib/deep/second.py": HOST.format(imported=imported, name=name),
        },
    )


def test_another_launch_in_the_package_is_named_with_its_line(tmp_path: Path):
    (note,) = _notes(_package(tmp_path, "from lib.kernels import scale as s", "s"), "lib/first.py")
    assert "lib/deep/second.py:7," in note
    assert "lib/__init__.py" not in note  # an import alone launches nothing
    assert "`grid_0`" in note
    assert note.endswith("migrate the package `lib`")


def test_a_launch_through_the_module_or_a_reexport_counts(tmp_path: Path):
    forms = [
        ("from lib import kernels as k", "k.scale"),
        ("import lib.kernels", "lib.kernels.scale"),
        ("from .. import scale", "scale"),
    ]
    for i, form in enumerate(forms):
        assert len(_notes(_package(tmp_path / str(i), *form), "lib/first.py")) == 1, form


def test_nothing_is_said_where_the_package_is_migrated(tmp_path: Path):
    assert _notes(_package(tmp_path, "from ..kernels import scale", "scale"), "lib") == []


def test_a_name_that_is_another_function_is_no_use(tmp_path: Path):
    package = _package(tmp_path, "from torch.special import scale", "scale")
    assert _notes(package, "lib/first.py") == []


def test_a_file_beside_a_lone_one_is_looked_at(tmp_path: Path):
    hosts = HOST.format(imported="from kernels import scale", name="scale")
    folder = _write(tmp_path / "flat", {"kernels.py": KERNEL, "a.py": hosts, "b.py": hosts, "c.py": ""})
    (note,) = _notes(folder, "a.py")
    assert "b.py:7," in note
    assert note.endswith("migrate the folder with both files")
