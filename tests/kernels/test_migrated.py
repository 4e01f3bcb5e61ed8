"""The own kernels after the migration: the stated outcome, and the same bits on any number of cores."""

from __future__ import annotations

from collections.abc import Callable
from functools import cache
from math import prod
from pathlib import Path
from typing import Any

import pytest

from tests.support import cases
from tests.support.migrated import by_name, migrate, overlay
from tritonport.migrate import MigrateResult
from tritonport.sources import resolve

CASES = cases.own_files() + cases.package_cases()
CORES = (1, 2, 3, 1000)
each_case = pytest.mark.parametrize("path", CASES, ids=lambda path: path.stem)


def source_of(path: Path) -> Path:
    """What is migrated for a case: the file itself, or the package that it names."""
    entry = cases.meta(path).get("entry")
    return path if entry is None else cases.PACKAGES / entry


class Outputs:
    """Every case migrated once, run once per number of cores."""

    def __init__(self, root: Path) -> None:
        self.results: dict[str, MigrateResult] = {}
        self.failures: dict[str, Exception] = {}
        self.files: dict[str, tuple[Path, Path]] = {}
        for path in CASES:
            try:
                self._migrate(path, root / path.stem)
            except Exception as failure:  # one case that cannot be migrated must not hide the others
                self.failures[path.stem] = failure

    def _migrate(self, path: Path, folder: Path) -> None:
        source = source_of(path)
        self.results[path.stem] = migrate(source, folder / "out")
        site = overlay(resolve(str(source)), folder / "out", folder / "site")
        self.files[path.stem] = (site, path if source != path else site / path.name)

    def result(self, path: Path) -> MigrateResult:
        if path.stem in self.failures:
            raise self.failures[path.stem]
        return self.results[path.stem]

    @cache  # noqa: B019  # lives as long as the session
    def run(self, cores: int) -> dict[str, dict[str, Any]]:
        found: dict[str, dict[str, Any]] = {}
        pairs = [(site, file) for site, file in self.files.values()]
        lone = [file for site, file in pairs if file.parent == site]
        roots = [site for site, file in pairs if file.parent == site]
        found |= cases.run_cases(lone, roots[0] if roots else None, TRITONPORT_CORES=str(cores))
        for site, file in pairs:
            if file.parent != site:
                found |= cases.run_cases([file], site, TRITONPORT_CORES=str(cores))
        return found


@pytest.fixture(scope="module")
def outputs(tmp_path_factory: pytest.TempPathFactory) -> Outputs:
    return Outputs(tmp_path_factory.mktemp("own_kernels"))


@pytest.fixture(scope="module")
def originals() -> Callable[[], dict[str, dict[str, Any]]]:
    @cache
    def run() -> dict[str, dict[str, Any]]:
        own = cases.run_cases(cases.own_files())
        return own | cases.run_cases(cases.package_cases(), root=cases.PACKAGES)

    return run


@each_case
def test_every_kernel_has_the_outcome_that_its_file_states(outputs: Outputs, path: Path) -> None:
    records = by_name(outputs.result(path))
    for kernel, stated in cases.meta(path)["outcome"].items():
        name = kernel if ":" in kernel else f"{path.stem}:{kernel}"
        assert name in records, f"{name} is missing: {sorted(records)}"
        assert stated in (None, records[name].outcome), records[name].unresolved
        if records[name].outcome != "converted":
            assert records[name].unresolved, "an outcome other than converted says why"


@each_case
@pytest.mark.parametrize("cores", CORES)
def test_output_computes_the_same_bits_on_any_number_of_cores(
    outputs: Outputs, originals: Callable[[], dict[str, dict[str, Any]]], path: Path, cores: int
) -> None:
    result = outputs.result(path)
    ran = outputs.run(cores)[path.stem]
    expected = originals()[path.stem]
    assert ran["error"] is None
    assert ran["right"]
    assert ran["digest"] == expected["digest"]
    names = (k.name for k in result.record.kernels if k.outcome == "converted")
    converted = {name.rpartition(":")[2].rpartition(".")[2] for name in names}
    for kernel, grid in ran["launches"]:
        if kernel in converted:
            assert 0 < prod(grid) <= cores


@each_case
def test_exit_code_says_whether_every_kernel_is_converted(outputs: Outputs, path: Path) -> None:
    result = outputs.result(path)
    everything = all(kernel.outcome == "converted" for kernel in result.record.kernels)
    assert result.exit_code == (0 if everything else 1)
