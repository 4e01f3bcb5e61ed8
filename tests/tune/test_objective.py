"""What counts as better, and in which order it is looked for."""

from __future__ import annotations

from dataclasses import replace

import pytest

from tests.tune.measured import FITS
from tritonport.npu.measure import Measurement, Message, Use
from tritonport.tune.ablate import lines
from tritonport.tune.objective import SCALAR_SLACK, rule_sets, score, tile_sets

BETTER_TO_WORSE = [
    (FITS, {"BK": 64, "BV": 64}),
    (replace(FITS, uses={"UB": Use(89, 100)}), {"BK": 64, "BV": 64}),
    (replace(FITS, barriers=20), {"BK": 64, "BV": 64}),
    (replace(FITS, uses={"UB": Use(91, 100)}), {"BK": 64, "BV": 64}),
    (FITS, {"BK": 32, "BV": 64}),
    (replace(FITS, sub_block="guarded"), {"BK": 128, "BV": 128}),
    (replace(FITS, discrete_elements=1), {"BK": 128, "BV": 128}),
    (replace(FITS, scalar_iterations=SCALAR_SLACK + 1), {"BK": 128, "BV": 128}),
    (replace(FITS, scalar_iterations=None), {"BK": 128, "BV": 128}),
    (replace(FITS, fits=False), {"BK": 128, "BV": 128}),
]


def test_the_order_of_what_is_better() -> None:
    scores = [score([measured], tiles, 0) for measured, tiles in BETTER_TO_WORSE]
    assert scores == sorted(scores)
    assert len(set(scores)) == len(scores)


def test_a_few_flags_more_say_less_than_room_in_the_buffer() -> None:
    """chunk_fwd_o of fla-core 0.5.1 with one buffer for what the cores exchange, and with two (ascendnpu-ir 1.2.0)."""
    one = replace(FITS, cross_core_syncs=24, barriers=27, uses={"UB": Use(447, 1000)})
    two = replace(FITS, cross_core_syncs=20, barriers=29, uses={"UB": Use(863, 1000)})
    assert score([one], {}, 0) < score([two], {}, 0)


def test_reductions_over_a_tile_do_not_count() -> None:
    within = replace(FITS, scalar_iterations=SCALAR_SLACK)
    assert score([within], {}, 0) == score([FITS], {}, 0)


def test_the_profile_wins_where_nothing_else_differs() -> None:
    assert score([FITS], {}, 0) < score([FITS], {}, 1)


def test_one_specialisation_that_does_not_compile_is_worse_than_all_that_do() -> None:
    broken = Measurement(None, 0.1, messages=(Message("crash", "ended by a signal"),))
    slow = replace(FITS, scalar_iterations=4096, sub_block="guarded")
    assert score([slow, slow], {}, 0) < score([FITS, broken], {}, 0)


@pytest.mark.parametrize(("cube", "smallest"), [(True, 32), (False, 8)])
def test_tile_sets_come_largest_first(cube: bool, smallest: int) -> None:
    sets = tile_sets(["BK", "BV"], cube=cube)
    products = [tiles["BK"] * tiles["BV"] for tiles in sets]
    assert products == sorted(products, reverse=True)
    assert sets[0] == {"BK": 128, "BV": 128}
    assert sets[-1] == {"BK": smallest, "BV": smallest}


def test_discrete_elements_count_per_lane() -> None:
    """Four programs of 32 lanes move as many elements alone as one of 128."""
    small, large = replace(FITS, discrete_elements=32), replace(FITS, discrete_elements=128)
    assert score([large], {"BT": 128}, 0) < score([small], {"BT": 32}, 0)


def test_a_kernel_without_tiles_has_one_empty_set() -> None:
    assert tile_sets([], cube=True) == [{}]


def test_neighbours_of_a_set_of_rules() -> None:
    assert list(rule_sets(["a", "b"], frozenset({"b"}))) == [frozenset({"a", "b"}), frozenset()]


def test_an_ablation_has_every_rule_alone_and_left_out() -> None:
    made = {line.label: (line.off, line.tiles) for line in lines(["a", "b"], tiles=True)}
    assert made == {
        "none": (frozenset("ab"), False),
        "a alone": (frozenset("b"), False),
        "b alone": (frozenset("a"), False),
        "tile-enlarge alone": (frozenset("ab"), True),
        "all": (frozenset(), True),
        "without a": (frozenset("a"), True),
        "without b": (frozenset("b"), True),
        "without tile-enlarge": (frozenset(), False),
    }
