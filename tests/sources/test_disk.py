"""Sources on disk: the package root is found, and what is not Python is refused."""

from __future__ import annotations

from pathlib import Path, PurePosixPath

import pytest

from tritonport.errors import UserError
from tritonport.sources import resolve


@pytest.fixture
def checkout(tmp_path: Path) -> Path:
    """A checkout with the package `pkg`, a namespace folder in it, tests beside it, a licence at the top."""
    files = (
        "pkg/__init__.py",
        "pkg/ops/__init__.py",
        "pkg/ops/add.py",
        "pkg/ops/extra/mul.py",
        "tests/__init__.py",
    )
    for name in (*files, "setup.py", "LICENSE"):
        path = tmp_path / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text("")
    return tmp_path


@pytest.mark.parametrize(
    ("src", "entry"),
    [
        ("pkg/ops", "pkg/ops"),
        ("pkg/ops/add.py", "pkg/ops/add.py"),
        ("pkg/ops/extra", "pkg/ops/extra"),
        ("pkg", "pkg"),
        (".", "pkg"),
    ],
)
def test_the_package_root_is_found_from_any_place(checkout: Path, src: str, entry: str) -> None:
    tree = resolve(str(checkout / src))
    assert (tree.root, tree.package, tree.entry) == (checkout, "pkg", PurePosixPath(entry))
    assert tree.licenses == (checkout / "LICENSE",)


def test_a_relative_path_means_the_working_directory(checkout: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(checkout / "pkg" / "ops")
    assert resolve("add.py").entry == PurePosixPath("pkg/ops/add.py")


def test_a_lone_file_has_no_package(tmp_path: Path) -> None:
    (tmp_path / "01_kernel.py").write_text("")
    tree = resolve(str(tmp_path / "01_kernel.py"))
    assert (tree.root, tree.package, tree.entry) == (tmp_path, None, PurePosixPath("01_kernel.py"))


def test_a_folder_of_lone_files_is_its_own_root(tmp_path: Path) -> None:
    (tmp_path / "a.py").write_text("")
    (tmp_path / "b.py").write_text("")
    tree = resolve(str(tmp_path))
    assert (tree.root, tree.package) == (tmp_path, None)
    assert tree.entry_files() == (PurePosixPath("a.py"), PurePosixPath("b.py"))


def test_metadata_beside_the_package_names_the_distribution(checkout: Path) -> None:
    info = checkout / "some_dist-1.2.dist-info"
    (info / "licenses").mkdir(parents=True)
    (info / "licenses" / "LICENSE").write_text("")
    (info / "METADATA").write_text("Metadata-Version: 2.1\nName: some-dist\nVersion: 1.2\n")
    (info / "RECORD").write_text("pkg/ops/add.py,,\nsome_dist-1.2.dist-info/licenses/LICENSE,,\n")
    tree = resolve(str(checkout / "pkg" / "ops"))
    assert (tree.distribution, tree.version) == ("some-dist", "1.2")
    assert tree.licenses == (info / "licenses" / "LICENSE",)


def test_two_packages_in_one_folder_are_ambiguous(checkout: Path) -> None:
    (checkout / "other").mkdir()
    (checkout / "other" / "__init__.py").write_text("")
    with pytest.raises(UserError, match="more than one package: other, pkg"):
        resolve(str(checkout))


def test_neither_a_text_file_nor_an_empty_folder_is_a_source(tmp_path: Path) -> None:
    (tmp_path / "notes.txt").write_text("")
    with pytest.raises(UserError, match="not a Python file"):
        resolve(str(tmp_path / "notes.txt"))
    with pytest.raises(UserError, match="no Python file"):
        resolve(str(tmp_path))


def test_hand_ports_are_never_input(checkout: Path) -> None:
    for name in ("pkg/ops/backends/add.py", "pkg/ops/triton_ascend/add.py"):
        (checkout / name).parent.mkdir()
        (checkout / name).write_text("")
    assert [file.name for file in resolve(str(checkout / "pkg" / "ops")).entry_files()] == [
        "__init__.py",
        "add.py",
        "mul.py",
    ]


def test_a_virtual_environment_in_the_folder_is_no_source(tmp_path: Path) -> None:
    for name in ("run.py", "venv/lib/other.py", "deep/er/more.py"):
        path = tmp_path / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text("")
    (tmp_path / "venv" / "pyvenv.cfg").write_text("home = /usr/bin\n")
    assert [str(f) for f in resolve(str(tmp_path)).entry_files()] == ["deep/er/more.py", "run.py"]


def test_triton_code_beside_the_one_package_is_named(checkout: Path) -> None:
    (checkout / "train.py").write_text("import triton\n")
    (checkout / "plain.py").write_text("import os\n")
    (note,) = resolve(str(checkout)).notes
    assert "train.py" in note
    assert "plain.py" not in note
