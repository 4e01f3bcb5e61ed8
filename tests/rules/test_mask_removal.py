"""mask-removal: whole tiles without masks, all other sizes with them, and what the user asserts is held to."""

from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path

import pytest

from tests.support.cases import environment
from tests.support.migrated import by_name, migrate
from tritonport.emit.templates import tritonport_runtime as runtime
from tritonport.engine.assume import parse_assumption
from tritonport.errors import UserError
from tritonport.resources import rules_root

EXAMPLES = rules_root() / "catalog" / "mask-removal" / "examples"
INPUTS = {
    "rows": [
        {"x": [rows, width], "y": {"empty": [rows, width]}, "BT": 8, "BD": 8}
        for rows in (1, 7, 8, 9, 24)
        for width in (8, 11)
    ],
    "blocks": [{"x": [rows, 8], "y": {"empty": [rows, 8]}, "BT": 8} for rows in (1, 8, 9)],
    "chunks": [
        *({"x": [2, t], "y": {"empty": [2, t]}, "T": t, "BT": 8} for t in (1, 7, 16)),
        {
            "x": [1, 16],
            "y": {"empty": [1, 16]},
            "T": 16,
            "BT": 8,
            "cu_seqlens": {"int": [0, 3, 16]},
            "chunks_of": {"int": [[0, 0], [1, 0], [1, 1]]},
        },
    ],
}


def test_the_same_bits_for_whole_tiles_and_for_all_other_sizes() -> None:
    wanted = [
        [*(str(EXAMPLES / f"{name}.{kind}.py") for kind in ("in", "out")), inputs]
        for name, found in INPUTS.items()
        for inputs in found
    ]
    done = subprocess.run(
        [sys.executable, "-m", "tests.rules.run_pairs"],
        input=json.dumps(wanted),
        env=environment(),
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.returncode == 0, done.stderr[-1500:]
    wrong = [case for case, found in zip(wanted, json.loads(done.stdout), strict=True) if not found["same"]]
    assert not wrong


def test_three_conditions_stand_in_brackets_two_at_a_time() -> None:
    """The front end of Triton 3.2 refuses `a and b and c`."""
    text = (EXAMPLES / "packed.out.py").read_text()
    assert "(not IS_VARLEN and EVEN_T) and D % BD == 0" in text


def test_an_assertion_guards_the_launches_that_it_speaks_of(tmp_path: Path) -> None:
    source = tmp_path / "rows.py"
    source.write_text((EXAMPLES / "rows.in.py").read_text())
    asserted = (parse_assumption("T % 64 == 0"), parse_assumption("BT <= 256"))
    result = migrate(source, tmp_path / "out", rules=("grid-collapse", "mask-removal"), assumptions=asserted)
    text = (tmp_path / "out" / "rows.py").read_text()
    lines = [line.strip() for line in text.splitlines()]
    at = lines.index('check_assumption(T % 64 == 0, "T % 64 == 0")')
    assert lines[at - 1] == "# one program for each tile of rows"
    assert lines[at + 1] == 'check_assumption(BT <= 256, "BT <= 256")'
    assert "(x, y, T, D=D, BT=BT, BD=BD)" in lines[at + 2]
    assert by_name(result)["rows:rows"].outcome == "converted"
    assert result.record.extra["settings"]["assumptions"] == ["T % 64 == 0", "BT <= 256"]


def test_a_launch_that_breaks_an_assertion_raises() -> None:
    runtime.check_assumption(True, "T % 64 == 0")
    with pytest.raises(ValueError, match="migrated for sizes with T % 64 == 0"):
        runtime.check_assumption(False, "T % 64 == 0")


@pytest.mark.parametrize(
    ("text", "why"),
    [
        ("T % 64", "not one compare"),
        ("T % 64 ==", "no expression"),
        ("T > 0 and T < 9", "not one compare"),
        ("len(T) > 0", "not one compare"),
        ("T > 0.5", "not one compare"),
        ("T >= 0", "always True"),
        ("2 * T + 1 == 2 * T", "always False"),
    ],
)
def test_what_cannot_be_asserted(text: str, why: str) -> None:
    with pytest.raises(UserError, match=why):
        parse_assumption(text)


def test_an_assertion_about_nothing(tmp_path: Path) -> None:
    source = tmp_path / "rows.py"
    source.write_text((EXAMPLES / "rows.in.py").read_text())
    with pytest.raises(UserError, match="no kernel that is migrated has the parameter `Q`"):
        migrate(
            source, tmp_path / "out", rules=("mask-removal",), assumptions=(parse_assumption("Q % 2 == 0"),)
        )
    assert not (tmp_path / "out").exists()
