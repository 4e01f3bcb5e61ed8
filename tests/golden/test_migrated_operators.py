"""Whole operators of migrated releases compute the bits of the originals, on few cores."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import pytest

from tests.support.migrated import overlay
from tests.support.operators import run_operators
from tests.support.releases import migrated
from tritonport.sources import SourceTree


@pytest.mark.slow
@pytest.mark.parametrize("version", ["0.4.1", "0.5.1", "0.6.0"])
def test_migrated_operators_compute_the_same_bits(
    fla_tree: Callable[[str], SourceTree], tmp_path: Path, version: str
) -> None:
    tree = fla_tree(version)
    site = overlay(tree, migrated(tree).out, tmp_path / "site")
    assert run_operators(site, version) == run_operators(tree.root, version)
