"""The small rules for masks, addresses and options: their examples, second runs, and the same results on both sides."""

from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

from tests.facts.test_tile_rules import migrated, rewritten
from tests.support.cases import environment
from tritonport.passes import all_rules
from tritonport.resources import rules_root

RULES = (
    "autotune-space",
    "bool-mask",
    "bool-scan",
    "branched-product",
    "capability-probe",
    "broadcast-row",
    "carried-index",
    "constexpr-operand",
    "descriptor-load",
    "dot-precision",
    "guarded-load",
    "mask-cast",
    "mask-removal",
    "negative-lanes",
    "nested-sum",
    "reload-barrier",
    "zero-trip",
)
OWN_TEST = ("capability-probe",)
"""Rules whose examples ask the device: what their output does is tested beside them."""
RUNNABLE = tuple(slug for slug in RULES if slug not in OWN_TEST)
INPUTS: dict[str, dict[str, Any]] = {
    "allowed": {"x": [4, 13], "keep": {"bool": [4, 13]}, "y": {"empty": [4, 13]}, "n": 13, "N": 16},
    "options": {"x": [150], "y": {"empty": [150]}, "z": {"empty": [150]}, "T": 150},
    "written": {"x": [16, 16], "y": {"empty": [16, 16]}, "N": 16},
    "named": {"x": [16, 16], "y": {"empty": [16, 16]}, "N": 16},
    "tile": {"x": [21, 2, 16], "y": {"empty": [21, 2, 16]}, "T": 21, "H": 2, "D": 16, "N": 8},
    "own_reload": {"x": [3, 100], "y": {"empty": [3, 100]}},
    "two_loops": {"x": [3, 100], "y": {"empty": [3, 100]}},
    "vector": {"x": [21], "y": {"empty": [21]}, "T": 21, "N": 8},
    "tiles_left": {"x": [48], "y": {"empty": [32]}, "D": 40, "N": 8, "G": 2},
    "grouped_weight": {
        "x": [21, 12],
        "w": [12],
        "y": {"empty": [21, 12]},
        "T": 21,
        "G": 1,
        "D": 12,
        "N": 8,
        "M": 16,
    },
    "again_in_loop": {
        "x": [21, 16],
        "g": [3, 16],
        "y": {"empty": [8, 16]},
        "T": 21,
        "D": 16,
        "N": 8,
        "USE_G": True,
    },
    "triangle": {"x": [24, 8], "y": {"empty": [21, 8]}, "T": 21, "N": 8},
    "block_triangle": {"x": [21, 8], "y": {"empty": [21, 8]}, "T": 21, "N": 8},
    "ragged": {
        "x": [3, 20, 16],
        "lengths": {"int": [5, 0, 20]},
        "y": {"empty": [3, 16, 16]},
        "z": {"empty": [3, 16, 16]},
        "T": 20,
        "N": 16,
        "D": 16,
    },
    "rows": {"x": [24, 12], "y": {"empty": [24, 12]}, "BT": 8, "BD": 8},
    "packed": {"x": [24, 16], "y": {"empty": [24, 16]}, "BT": 8, "BD": 8},
    "blocks": {"x": [24, 8], "y": {"empty": [24, 8]}, "BT": 8},
    "chunks": {
        "x": [2, 24],
        "y": {"empty": [2, 24]},
        "T": 24,
        "BT": 8,
    },
    "fading": {
        "x": [21, 16],
        "s": [21],
        "y": {"empty": [16, 16]},
        "z": [21],
        "T": 21,
        "N": 16,
        "D": 16,
    },
    "blocks_of_blocks": {"x": [64, 16], "y": {"empty": [16, 16]}, "T": 40, "N": 16, "D": 16, "M": 4},
    "ranks": {"x": [16], "rank": {"zeros": [16]}, "count": {"zeros": [2]}, "limit": 0.25, "N": 16},
    "neighbour": {"ends": {"int": [3, 4, 9, 11, 20]}, "y": {"zeros": [5]}, "n": 5, "N": 4},
    "exponents": {"x": [37], "y": {"empty": [37]}, "T": 37, "N": 16},
    "gathered": {"x": [9], "rows": {"int": [3, -1, 8, 0, -1]}, "y": {"empty": [5]}, "n": 5, "N": 8},
    "shifted": {"x": [21, 8], "y": {"empty": [21, 8]}, "T": 21, "W": 3, "N": 8, "D": 8},
    "before": {"x": [21], "y": {"empty": [21]}, "n": 21, "N": 8},
    "reversed_rows": {"x": [21], "y": {"empty": [21]}, "T": 21, "N": 8},
    "missing_rows": {
        "x": [9, 4],
        "rows": {"int": [3, -1, 8, 0, -1]},
        "y": {"empty": [5, 4]},
        "n": 5,
        "N": 8,
        "D": 4,
    },
}


def examples(ending: str, rules: tuple[str, ...] = RULES) -> list[Any]:
    found = [
        (slug, path)
        for slug in rules
        for path in sorted((rules_root() / "catalog" / slug / "examples").glob(ending))
    ]
    return [pytest.param(slug, path, id=f"{slug}-{path.name.split('.')[0]}") for slug, path in found]


@pytest.mark.parametrize(("slug", "path"), examples("*.in.py"))
def test_an_example_becomes_what_its_page_shows(slug: str, path: Path) -> None:
    assert migrated(slug, path).text == rewritten(path).read_text()


@pytest.mark.parametrize(("slug", "path"), examples("*.out.py"))
def test_a_second_run_changes_nothing(slug: str, path: Path) -> None:
    assert not migrated(slug, path).changed


@pytest.mark.parametrize(("slug", "path"), examples("*.noop.py"))
def test_what_is_not_to_be_rewritten_stays_and_a_refusal_says_why(slug: str, path: Path) -> None:
    result = migrated(slug, path)
    assert not result.changed
    assert bool(result.unresolved) == path.name.startswith("refused")


@pytest.fixture(scope="module")
def pairs() -> dict[str, dict[str, Any]]:
    """Both sides of every example that has inputs, run in one process."""
    paths = [path for _, path in (param.values for param in examples("*.in.py", RUNNABLE))]
    wanted = [[str(p), str(rewritten(p)), INPUTS[p.name.split(".")[0]]] for p in paths]
    done = subprocess.run(
        [sys.executable, "-m", "tests.rules.run_pairs"],
        input=json.dumps(wanted),
        env=environment(),
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.returncode == 0, done.stderr[-2000:]
    return {pair[0]: found for pair, found in zip(wanted, json.loads(done.stdout), strict=True)}


@pytest.mark.parametrize(("slug", "path"), examples("*.in.py", RUNNABLE))
def test_the_rewritten_example_gives_the_same_results(
    slug: str, path: Path, pairs: dict[str, dict[str, Any]]
) -> None:
    found = pairs[str(path)]
    assert found["touched"]
    assert found["same"] if all_rules()[slug].rule_class == "exact" else found["close"], found
