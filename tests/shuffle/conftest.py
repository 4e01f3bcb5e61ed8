"""Renamed copies, made once a session."""

from __future__ import annotations

from collections.abc import Callable
from functools import cache

import pytest

from tests.support.shuffle import Shuffled, shuffle
from tritonport.sources import SourceTree

# Folders whose names are a convention of the tool: hand ports for another device are never input, and
# context-parallel kernels are listed apart.
CONVENTIONS = ("backends", "triton_ascend", "cp")


@pytest.fixture(scope="session")
def shuffled(
    fla_tree: Callable[[str], SourceTree], tmp_path_factory: pytest.TempPathFactory
) -> Callable[[str], Shuffled]:
    """`shuffled(version)`: a renamed copy of one fla-core release."""

    @cache
    def copy(version: str) -> Shuffled:
        out = tmp_path_factory.mktemp(f"shuffled_{version}")
        return shuffle(fla_tree(version).root, "fla", out, keep=CONVENTIONS)

    return copy
