"""The own kernels are right before anything is rewritten: what launch() gives equals reference()."""

from __future__ import annotations

from typing import Any

import pytest

from tests.support import cases


@pytest.fixture(scope="module")
def results() -> dict[str, dict[str, Any]]:
    own = cases.run_cases(cases.own_files())
    return own | cases.run_cases(cases.package_cases(), root=cases.PACKAGES)


@pytest.mark.parametrize("path", cases.own_files() + cases.package_cases(), ids=lambda path: path.stem)
def test_launch_equals_reference(results: dict[str, dict[str, Any]], path: Any) -> None:
    result = results[path.stem]
    assert result["error"] is None
    assert result["right"], result["ratio"]


@pytest.mark.parametrize("path", cases.own_files() + cases.package_cases(), ids=lambda path: path.stem)
def test_every_listed_kernel_is_launched(results: dict[str, dict[str, Any]], path: Any) -> None:
    listed = {name.rpartition(":")[2].rpartition(".")[2] for name in cases.meta(path)["outcome"]}
    assert {kernel for kernel, _ in results[path.stem]["launches"]} == listed
