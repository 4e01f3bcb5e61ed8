"""tile-enlarge where host code cuts long rows: a lower limit, when it may be one, and the same result."""

from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path

import pytest

from tests.tune.test_tile_enlarge import EXAMPLES, chosen, run, written
from tritonport.engine.choices import KernelChoice, TileLimit
from tritonport.tune.objective import tile_sets

KERNEL = """@triton.jit
def add_up(x, target, y, at, D, N, BD: tl.constexpr, CUT: tl.constexpr):
    i_n, i_d = tl.program_id(0), tl.program_id(1)
    o_d = i_d * BD + tl.arange(0, BD)
    b_x = tl.load(x + i_n * D + o_d, mask=o_d < D, other=0.0)
    b_sum = tl.sum(b_x, 0)
    if not CUT:
        b_sum = b_sum * 2
    b_target = tl.load(target + i_n)
    m = (b_target >= i_d * BD) & (b_target < tl.minimum(D, (i_d + 1) * BD))
    b_at = tl.load(x + i_n * D + b_target, mask=m, other=0.0)
    tl.store(at + i_d * N + i_n, b_at)
    tl.store(y + i_d * N + i_n, b_sum)


"""
HOST = """def run(x, target):
    N, D = x.shape
    LONGEST = 4096
    BD = min(triton.next_power_of_2(D), LONGEST)
    cut = D > LONGEST
    ND = triton.cdiv(D, BD)
    y = x.new_empty(ND, N)
    at = x.new_empty(ND, N)
    add_up[(N, ND)](x, target, y, at, D, N, BD=BD, CUT=cut)
    if cut:
        y = y.sum(0, keepdim=True) * 2
    return y, at.sum(0)
"""
PLAIN = HOST.replace("    LONGEST = 4096\n", "").replace("D > LONGEST", "D > BD").replace("LONGEST", "4096")

SCALE = """@triton.jit
def scale(x, y, D, BD: tl.constexpr):
    i_n, i_d = tl.program_id(0), tl.program_id(1)
    o_d = i_d * BD + tl.arange(0, BD)
    b_x = tl.load(x + i_n * D + o_d, mask=o_d < D, other=0.0)
    tl.store(y + i_n * D + o_d, b_x * 2, mask=o_d < D)


"""
ROWS = """def run(x):
    N, D = x.shape
    BD = min(triton.next_power_of_2(D), 4096)
    y = torch.empty_like(x)
    scale[(N, triton.cdiv(D, BD))](x, y, D, BD=BD)
    return y
"""


def test_a_limit_with_a_name_is_changed_where_it_gets_its_value(tmp_path: Path) -> None:
    text = run(written(tmp_path, HOST, KERNEL), chosen(limit=64, wide=32, data="x")).text
    assert "    LONGEST = tile(D, 64 if x.element_size() <= 2 else 32)\n" in text
    assert "    BD = min(triton.next_power_of_2(D), LONGEST)\n" in text


def test_a_limit_in_the_choice_is_changed_there(tmp_path: Path) -> None:
    result = run(written(tmp_path, PLAIN, KERNEL), chosen(limit=64))
    assert "    BD = tile(D, 64)\n" in result.text
    assert result.classes == {("sums:add_up", "tile-enlarge"): "reordered"}


def test_a_limit_of_the_module_stays_for_others(tmp_path: Path) -> None:
    host = "LONGEST = 4096\n\n\n" + PLAIN.replace("D), 4096", "D), LONGEST")
    text = run(written(tmp_path, host, KERNEL), chosen(limit=64)).text
    assert "LONGEST = 4096\n" in text
    assert "    BD = tile(D, 64)\n" in text


def test_rows_of_one_tile_and_of_many_have_the_same_result(tmp_path: Path) -> None:
    pairs: list[list[object]] = []
    for name, host in (("named", HOST), ("number", PLAIN)):
        (tmp_path / name).mkdir()
        before = written(tmp_path / name, host, KERNEL)
        after = tmp_path / name / "migrated.py"
        after.write_text(run(before, chosen(limit=64)).text, encoding="utf-8")
        for columns in (48, 64, 300):
            inputs = {"x": [3, columns], "target": {"int": [0, columns - 1, 40]}}
            pairs.append([str(before), str(after), inputs])
    done = subprocess.run(
        [sys.executable, "-m", "tests.rules.run_pairs"],
        input=json.dumps(pairs),
        capture_output=True,
        text=True,
        check=True,
    )
    assert [(found["close"], found["touched"]) for found in json.loads(done.stdout)] == [(True, True)] * 6


@pytest.mark.parametrize(
    ("old", "new", "why"),
    [
        ("    ND = ", "    if D > BD:\n        raise ValueError\n    ND = ", "the host refuses"),
        ("    ND = ", "    assert D <= BD\n    ND = ", "the host refuses"),
        ("at.sum(0)", "at.sum(0), BD", "`BD` depends on the tile and leaves"),
        ("at.sum(0)", "at.sum(0), ND", "`ND` depends on the tile and leaves"),
        ("D > LONGEST", "D > 4 * 1024", "stands there as the limit"),
        ("cut = D", "z = x.new_empty(LONGEST)\n    cut = D", "read for something else"),
        ("y = x.new_empty(ND, N)", "y = x.new_empty(9, N)", "made elsewhere"),
    ],
)
def test_a_limit_that_may_not_be_another_is_unresolved(tmp_path: Path, old: str, new: str, why: str) -> None:
    assert old in HOST
    result = run(written(tmp_path, HOST.replace(old, new, 1), KERNEL), chosen(limit=64))
    assert not result.changed
    assert why in result.unresolved[0][1].why


def test_the_tile_of_a_position_needs_a_host_that_cuts_rows(tmp_path: Path) -> None:
    result = run(written(tmp_path, PLAIN.replace("min(triton.next_power_of_2(D), 4096)", "128"), KERNEL), {})
    assert not result.changed
    wished = run(
        written(tmp_path, PLAIN.replace("min(triton.next_power_of_2(D), 4096)", "128"), KERNEL),
        chosen(limit=64),
    )
    assert not wished.changed
    assert wished.unresolved


def test_the_start_of_another_tile_in_the_compare_makes_it_no_tile(tmp_path: Path) -> None:
    kernel = KERNEL.replace("CUT: tl", "BN: tl.constexpr, CUT: tl").replace(
        "b_target >= i_d * BD", "tl.max(tl.arange(0, BN)) * BN >= i_d * BD"
    )
    host = PLAIN.replace("BD=BD", "BD=BD, BN=16")
    assert not run(written(tmp_path, host, kernel), chosen(limit=64)).changed


def test_without_an_entry_only_a_row_that_cannot_fit_is_cut(tmp_path: Path) -> None:
    assert not run(written(tmp_path, ROWS, SCALE)).changed
    long = run(written(tmp_path, ROWS.replace("4096", "65536"), SCALE))
    assert "    BD = tile(D, " in long.text
    assert "estimated, not measured" in long.notes[0][1]


def test_without_an_entry_parts_that_the_host_puts_together_stay(tmp_path: Path) -> None:
    assert not run(written(tmp_path, HOST.replace("4096", "65536"), KERNEL)).changed


def test_two_kernels_with_one_limit_need_the_same(tmp_path: Path) -> None:
    second = KERNEL.replace("add_up", "add_more")
    host = HOST.replace(
        "    if cut", "    add_more[(N, ND)](x, target, y, at, D, N, BD=BD, CUT=cut)\n    if cut"
    )
    path = written(tmp_path, host, KERNEL + second)
    apart = {**chosen(limit=64), "sums:add_more": KernelChoice((TileLimit("BD", 32),))}
    assert not run(path, apart).changed
    alike = {**chosen(limit=64), "sums:add_more": KernelChoice((TileLimit("BD", 64),))}
    assert run(path, alike).text.count("tile(D, 64)") == 1


def test_the_example_is_cut_at_a_size_that_was_measured() -> None:
    choice = {"long_rows.noop:row_score": KernelChoice((TileLimit("BD", 8192),))}
    assert "LONGEST = tile(D, 8192)" in run(EXAMPLES / "long_rows.noop.py", choice).text


def test_a_search_begins_at_the_hosts_own_limit() -> None:
    sizes = [tiles["BD"] for tiles in tile_sets(["BD"], cube=False, limits={"BD": 1024})]
    assert sizes == [1024, 512, 256, 128, 64, 32, 16, 8]
