"""The surface of the source does not matter, and what need not change stays."""

from __future__ import annotations

import io
import tokenize
from collections import Counter
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from tests.support import cases
from tests.support.migrated import migrate, overlay, python_texts
from tests.support.mutants import mutate
from tests.support.releases import migrated
from tritonport.emit.lock import LOCK
from tritonport.migrate import MigrateResult
from tritonport.sources import SourceTree, resolve

OWN = cases.own_files()
each = pytest.mark.parametrize("path", OWN, ids=lambda path: path.stem)


def outcomes(result: MigrateResult) -> dict[str, Any]:
    """Per kernel: outcome, rules with counts, and what each unresolved item says. Without lines."""
    return {
        kernel.name: (
            kernel.outcome,
            [(use.slug, use.count) for use in kernel.rules],
            sorted((item.slug, item.why) for item in kernel.unresolved),
        )
        for kernel in result.record.kernels
    }


def comments(text: str) -> Counter[str]:
    tokens = tokenize.generate_tokens(io.StringIO(text).readline)
    return Counter(token.string for token in tokens if token.type == tokenize.COMMENT)


def emitted(source: SourceTree, out: Path) -> list[tuple[Path, Path]]:
    """Pairs of upstream file and migrated file."""
    pairs = [(source.root / p.relative_to(out), p) for p in sorted(out.rglob("*.py"))]
    return [(old, new) for old, new in pairs if old.is_file()]


@each
def test_every_comment_survives(tmp_path: Path, path: Path) -> None:
    migrate(path, tmp_path / "out")
    for old, new in emitted(resolve(str(path)), tmp_path / "out"):
        lost = comments(old.read_text(encoding="utf-8")) - comments(new.read_text(encoding="utf-8"))
        assert not lost


@pytest.mark.parametrize("version", ["0.4.1", "0.6.0"])
def test_every_comment_of_a_release_survives(fla_tree: Callable[[str], SourceTree], version: str) -> None:
    tree = fla_tree(version)
    pairs = emitted(tree, migrated(tree).out)
    assert pairs
    for old, new in pairs:
        lost = comments(old.read_text(encoding="utf-8")) - comments(new.read_text(encoding="utf-8"))
        assert not lost, old


@each
def test_migrating_the_output_changes_nothing(tmp_path: Path, path: Path) -> None:
    source = resolve(str(path))
    first = migrate(path, tmp_path / "out")
    site = overlay(source, first.out, tmp_path / "site")
    (site / LOCK).unlink()  # else the folder is known for what it is, and refused
    again = migrate(site / path.name, tmp_path / "again")
    for name, data in python_texts(again.out).items():
        if name.endswith(".py") and name != "activate.py":
            assert data == (site / name).read_bytes(), name
    assert [k.name for k in again.record.kernels] == [k.name for k in first.record.kernels]


@settings(max_examples=25, deadline=None, derandomize=True, suppress_health_check=list(HealthCheck))
@given(path=st.sampled_from(OWN), seed=st.integers(0, 10**6))
def test_surface_mutants_have_the_outcome_of_the_original(
    tmp_path_factory: pytest.TempPathFactory, path: Path, seed: int
) -> None:
    folder = tmp_path_factory.mktemp("mutant")
    original = migrate(path, folder / "original")
    mutant = folder / "src" / path.name
    mutant.parent.mkdir()
    mutant.write_text(mutate(path.read_text(encoding="utf-8"), seed), encoding="utf-8")
    assert outcomes(migrate(mutant, folder / "out")) == outcomes(original)


def test_migrated_mutants_compute_what_the_original_computes(tmp_path: Path) -> None:
    """One mutant per own kernel, all in one run; each has its own folder, the run-time module is the same."""
    files: list[Path] = []
    for number, path in enumerate(OWN):
        mutant = tmp_path / "src" / path.name
        mutant.parent.mkdir(exist_ok=True)
        mutant.write_text(mutate(path.read_text(encoding="utf-8"), number), encoding="utf-8")
        out = migrate(mutant, tmp_path / path.stem).out
        files.append(out / path.name if (out / path.name).is_file() else mutant)
    ran = cases.run_cases(files, root=files[0].parent, TRITONPORT_CORES="2")
    original = cases.run_cases(OWN)
    assert {name: r["error"] for name, r in ran.items()} == dict.fromkeys(original)
    assert {name: r["digest"] for name, r in ran.items()} == {n: r["digest"] for n, r in original.items()}
