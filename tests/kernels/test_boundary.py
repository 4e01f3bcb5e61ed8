"""Around the largest grid that the device accepts (65535 programs): never more programs than cores."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from tests.support import cases
from tests.support.migrated import migrate

CASE = Path(__file__).parent / "boundary" / "many_tasks.py"
SHAPES = {65535: (21845, 3), 65536: (16384, 4), 120000: (30000, 4)}


@pytest.fixture(scope="module")
def migrated(tmp_path_factory: pytest.TempPathFactory) -> Path:
    out = tmp_path_factory.mktemp("boundary") / "out"
    result = migrate(CASE, out)
    assert result.exit_code == 0
    return out


def run(migrated: Path, tasks: int, **more: str) -> dict[str, Any]:
    rows, columns = SHAPES[tasks]
    assert rows * columns == tasks
    environment = {"CASE_ROWS": str(rows), "CASE_COLUMNS": str(columns), "TRITONPORT_CORES": "48", **more}
    return cases.run_cases([migrated / CASE.name], root=migrated, **environment)[CASE.stem]


@pytest.mark.parametrize("tasks", SHAPES)
def test_many_tasks_are_launched_as_the_cores_and_shared_out_evenly(migrated: Path, tasks: int) -> None:
    """Runs the first, a middle and the last program, and looks at what they wrote and left alone."""
    result = run(migrated, tasks, CASE_PROGRAMS="0,15,16,47")
    assert result["error"] is None
    assert result["launches"] == [["mark", [48, 1, 1]]]
    assert result["right"]


@pytest.mark.slow
@pytest.mark.parametrize("tasks", SHAPES)
def test_many_tasks_give_the_result_of_the_original(migrated: Path, tasks: int) -> None:
    result = run(migrated, tasks)
    assert result["error"] is None
    assert result["right"]
