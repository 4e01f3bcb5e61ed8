"""Shared fixtures: FLA releases fetched through the tool's own cache, and what `--full` adds."""

from __future__ import annotations

from collections.abc import Callable
from functools import cache

import pytest

from tritonport.sources import SourceTree, resolve

FlaTree = Callable[[str], SourceTree]


def pytest_addoption(parser: pytest.Parser) -> None:
    parser.addoption("--full", action="store_true", help="also run the long matrix (marked slow)")


def pytest_collection_modifyitems(config: pytest.Config, items: list[pytest.Item]) -> None:
    skip = pytest.mark.skip(reason="part of the long matrix: give --full")
    for item in items:
        if "fla_tree" in getattr(item, "fixturenames", ()):
            item.add_marker(pytest.mark.network)
        if "slow" in item.keywords and not config.getoption("--full"):
            item.add_marker(skip)


@pytest.fixture(scope="session")
def fla_tree() -> FlaTree:
    """`fla_tree(version)`: the GDN operators of one fla-core release, fetched by hash and cached."""

    @cache
    def tree(version: str) -> SourceTree:
        return resolve("fla.ops.gated_delta_rule", from_spec=f"fla-core=={version}")

    return tree
