"""The renamed copy is a fair one: it runs, it computes the same bits, and its old names are gone."""

from __future__ import annotations

import ast
from collections.abc import Callable
from pathlib import Path

import pytest

from tests.support import cases
from tests.support.operators import run_operators
from tests.support.shuffle import Shuffled, shuffle
from tests.support.shuffle.package import LAUNCH_OPTIONS
from tritonport.sources import SourceTree

RUN = ("0.4.1", "0.6.0")


def test_renaming_is_deterministic_and_depends_on_the_seed(tmp_path: Path) -> None:
    copies = [shuffle(cases.PACKAGES, "braid", tmp_path / str(n), seed=n // 2) for n in range(3)]
    texts = [{p.relative_to(c.root): p.read_text() for p in sorted(c.root.rglob("*.py"))} for c in copies]
    assert texts[0] == texts[1]
    assert texts[0] != texts[2]


def test_small_package_keeps_no_name_and_runs_to_the_same_bits(tmp_path: Path) -> None:
    copy = shuffle(cases.PACKAGES, "braid", tmp_path / "copy")
    text = (cases.PACKAGES / "braid_case.py").read_text(encoding="utf-8")
    for old in ("braid", "interleave", "separate", "second"):
        text = text.replace(f"{old}(", f"{copy.name(old)}(").replace(f"{old}=", f"{copy.name(old)}=")
    text = text.replace("import braid", f"import {copy.package}").replace("braid.", f"{copy.package}.")
    case = tmp_path / "renamed_case.py"
    case.write_text(text, encoding="utf-8")
    new = cases.run_cases([case], root=copy.root)["renamed_case"]
    old = cases.run_cases(cases.package_cases(), root=cases.PACKAGES)["braid_case"]
    assert new["error"] is None
    assert new["digest"] == old["digest"]
    assert [grid for _, grid in new["launches"]] == [grid for _, grid in old["launches"]]
    assert not {kernel for kernel, _ in new["launches"]} & {kernel for kernel, _ in old["launches"]}


def _own_names(text: str) -> set[str]:
    """Names of module-level functions, and of their parameters and variables."""
    found: set[str] = set()
    for function in ast.parse(text).body:
        if isinstance(function, ast.FunctionDef):
            found.add(function.name)
            for node in ast.walk(function):
                if isinstance(node, ast.arg):
                    found.add(node.arg)
                elif isinstance(node, ast.Name) and isinstance(node.ctx, ast.Store):
                    found.add(node.id)
    return found


@pytest.mark.parametrize("version", RUN)
def test_kernels_and_host_functions_lose_their_names(
    fla_tree: Callable[[str], SourceTree], shuffled: Callable[[str], Shuffled], version: str
) -> None:
    copy = shuffled(version)
    for old, new in copy.modules.items():
        file = fla_tree(version).root.joinpath(*old.split(".")).with_suffix(".py")
        if "gated_delta_rule" in old and file.is_file() and "backends" not in old:
            before = _own_names(file.read_text(encoding="utf-8"))
            after = _own_names(
                copy.root.joinpath(*new.split(".")).with_suffix(".py").read_text(encoding="utf-8")
            )
            assert len(before) == len(after)
            assert before & after <= LAUNCH_OPTIONS


@pytest.mark.slow
@pytest.mark.parametrize("version", RUN)
def test_renamed_operators_compute_the_same_bits(
    fla_tree: Callable[[str], SourceTree],
    shuffled: Callable[[str], Shuffled],
    version: str,
) -> None:
    copy = shuffled(version)
    original = run_operators(fla_tree(version).root, version)
    assert run_operators(copy.root, version, copy) == original
    assert len(original) >= 3
