"""The rules on tiles: what their examples become, that a second run changes nothing, and the same bits."""

from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path, PurePosixPath
from typing import Any

import pytest

from tritonport.discover import analyse
from tritonport.engine.context import Settings
from tritonport.engine.pipeline import FileResult, run_file
from tritonport.facts.programs import plan_programs
from tritonport.passes import all_rules
from tritonport.resources import rules_root
from tritonport.sources.tree import SourceTree

RULES = (
    "index-width",
    "transposed-load",
    "gate-layout",
    "shared-layout",
    "gate-precision",
    "dot-operand-reuse",
    "heads-in-tile",
)
INPUTS: dict[str, dict[str, Any]] = {
    "masked_rows": {"x": [37, 16], "y": {"empty": [48, 16]}, "T": 37, "D": 16, "N": 16},
    "block_rows": {"x": [37, 16], "y": {"empty": [37, 16]}, "T": 37, "D": 16, "N": 16},
    "block_products": {"q": [37, 16], "k": [37, 16], "s": {"empty": [37, 16]}, "T": 37, "N": 16},
    "block_promoted": {"x": [37, 16], "beta": [37], "y": {"empty": [37, 16]}, "T": 37, "N": 16},
    "lower_limit": {"x": [37], "y": {"empty": [37]}, "starts": {"int": [1]}, "offset": 0, "T": 37, "N": 16},
    "run_time_lower_limit": {
        "x": [37],
        "y": {"empty": [48]},
        "ends": {"int": [0, 5, 19, 37]},
        "W": 3,
        "N": 16,
    },
    "shifted_rows": {"x": [37], "y": {"empty": [37]}, "T": 37, "W": 3, "N": 16},
    "runtime_stride": {"x": [37, 4], "y": {"empty": [37]}, "T": 37, "S": 4, "N": 16},
    "row_stride": {"x": [37, 24], "y": {"empty": [37, 16]}, "T": 37, "S": 24, "D": 16, "N": 16},
    "loop_bound": {"x": [25, 8], "y": {"empty": [4, 8]}, "starts": {"int": [0, 5, 5, 22, 25]}, "N": 8},
    "whole_index": {"x": [1], "y": {"empty": [37]}, "T": 37, "N": 16},
    "strided_tile": {
        "q": [20, 2, 16],
        "k": [20, 2, 16],
        "s": {"empty": [2, 2, 16, 16]},
        "T": 20,
        "H": 2,
        "K": 16,
        "N": 16,
    },
    "either_way": {
        "h": [16, 32],
        "v": [32, 16],
        "o": {"empty": [32, 16]},
        "K": 16,
        "V": 32,
        "V_FIRST": False,
    },
    "either_way_store": {"x": [8, 16], "y": {"empty": [16, 8]}, "R": 8, "C": 16, "TURNED": True},
    "strided_store": {"x": [8, 16], "y": {"empty": [16, 8]}, "R": 8, "C": 16},
    "gated_rows": {"x": [2, 20, 3, 16], "g": [2, 20, 3], "beta": [2, 20, 3], "N": 16},
    "block_pointer_gate": {"x": [2, 20, 3, 16], "g": [2, 20, 3], "N": 16},
    "filled_in_pieces": {"x": [1], "g": [2, 40, 3]},
    "kept_buffer": {"x": [1], "g": [2, 40, 3]},
    "store_between": {"a": [16, 16], "b": [16, 16], "y": {"empty": [16, 16]}},
    "two_products": {
        "q": [16, 16],
        "k": [16, 16],
        "h": [16, 16],
        "s": {"empty": [16, 16]},
        "o": {"empty": [16, 16]},
        "N": 16,
        "FLIP": True,
    },
    "running_sum": {"s": [2, 21, 3], "bias": [3], "N": 8, "REVERSE": True},
    "head_first": {"s": [2, 3, 21], "N": 8},
    "last_axis": {"s": [2, 13, 8], "N": 8},
    "by_position": {"s": [2, 13, 8], "N": 8, "REVERSE": True},
    "own_axis": {"g": [2, 13, 35], "a": [35]},
    "block_scan": {"s": [2, 13, 35], "N": 8},
    "tile_from_helper": {"q": [16, 16], "k": [16, 16], "o": {"empty": [16, 16]}, "M": 1, "N": 16, "D": 32},
    "unknown_operand": {"x": [16, 16], "y": [16, 16], "o": {"empty": [16, 16]}, "N": 16},
    "two_kernels": {"x": [2, 21, 3, 16], "g": [2, 21, 3]},
    "packed": {"g": [25, 3], "starts": {"int": [0, 5, 5, 22, 25]}},
    "promoted": {"x": [16, 16], "beta": [16], "y": {"empty": [16, 16]}, "N": 16},
}


def examples(ending: str) -> list[Any]:
    found = [
        (slug, path)
        for slug in RULES
        for path in sorted((rules_root() / "catalog" / slug / "examples").glob(ending))
    ]
    return [pytest.param(slug, path, id=f"{slug}-{path.name.split('.')[0]}") for slug, path in found]


def migrated(slug: str, path: Path) -> FileResult:
    analysis = analyse(SourceTree(path.parent, None, PurePosixPath(path.name)))
    (module,) = analysis.index.modules.values()
    return run_file(module, analysis, plan_programs(analysis), Settings(), [all_rules()[slug]])


def rewritten(path: Path) -> Path:
    return path.with_name(path.name.replace(".in.py", ".out.py"))


@pytest.mark.parametrize(("slug", "path"), examples("*.in.py"))
def test_an_example_becomes_what_its_page_shows(slug: str, path: Path) -> None:
    assert migrated(slug, path).text == rewritten(path).read_text()


@pytest.mark.parametrize(("slug", "path"), examples("*.out.py"))
def test_a_second_run_changes_nothing(slug: str, path: Path) -> None:
    assert not migrated(slug, path).changed


@pytest.mark.parametrize(("slug", "path"), examples("*.noop.py"))
def test_what_is_not_to_be_rewritten_stays(slug: str, path: Path) -> None:
    result = migrated(slug, path)
    assert not result.changed
    assert bool(result.unresolved) == path.name.startswith(("refused", "unknown"))


@pytest.mark.parametrize(("slug", "path"), examples("*.in.py"))
def test_the_rewritten_example_gives_the_same_results(slug: str, path: Path) -> None:
    inputs = INPUTS[path.name.split(".")[0]]
    command = [
        sys.executable,
        "-m",
        "tests.facts.run_pair",
        str(path),
        str(rewritten(path)),
        json.dumps(inputs),
    ]
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr[-2000:]
    found = json.loads(done.stdout)
    assert found["touched"]
    assert found["same"] if all_rules()[slug].rule_class == "exact" else found["close"], found
