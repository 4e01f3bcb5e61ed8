"""Modules of installed distributions are found without importing anything."""

from __future__ import annotations

import sys
from pathlib import Path, PurePosixPath

import pytest

from tritonport.sources import resolve


@pytest.fixture
def site(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A site folder with two distributions that share the package `shared`, whose import raises."""
    for name, files in {"first": ("a.py",), "second": ("b.py", "sub/__init__.py")}.items():
        info = tmp_path / f"{name}-1.0.dist-info"
        info.mkdir()
        (info / "METADATA").write_text(f"Metadata-Version: 2.1\nName: {name}\nVersion: 1.0\n")
        (info / "top_level.txt").write_text("shared\n")
        (info / "RECORD").write_text("".join(f"shared/{file},,\n" for file in files))
        for file in files:
            (tmp_path / "shared" / file).parent.mkdir(parents=True, exist_ok=True)
            (tmp_path / "shared" / file).write_text("raise RuntimeError('imported')\n")
    (tmp_path / "shared" / "__init__.py").write_text("raise RuntimeError('imported')\n")
    monkeypatch.syspath_prepend(str(tmp_path))
    return tmp_path


@pytest.mark.parametrize(
    ("src", "entry", "distribution"),
    [
        ("shared.a", "shared/a.py", "first"),
        ("shared/b", "shared/b.py", "second"),
        ("shared/b.py", "shared/b.py", "second"),
        ("shared.sub", "shared/sub", "second"),
    ],
)
def test_a_module_is_found_with_its_own_distribution(
    site: Path, src: str, entry: str, distribution: str
) -> None:
    tree = resolve(src)
    assert (tree.root, tree.package, tree.entry) == (site, "shared", PurePosixPath(entry))
    assert (tree.distribution, tree.version) == (distribution, "1.0")
    assert not any(name.split(".")[0] == "shared" for name in sys.modules)


def test_the_disk_comes_before_what_is_installed(
    site: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    near = tmp_path / "work" / "shared"
    near.mkdir(parents=True)
    (near / "__init__.py").write_text("")
    monkeypatch.chdir(tmp_path / "work")
    assert resolve("shared").root == tmp_path / "work"
