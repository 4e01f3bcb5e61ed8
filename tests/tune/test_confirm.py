"""What wins in the first case has to hold in every case: launch options are chosen again where it does not."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

from tests.tune.measured import FITS
from tritonport.npu.capture import Captured, CapturedCase, Launch, Tried
from tritonport.npu.compile import Unit
from tritonport.npu.measure import Measurement
from tritonport.tune.objective import ONE_BUFFER, Options, score
from tritonport.tune.search import Budget, Candidate, Search, _State  # pyright: ignore[reportPrivateUsage]
from tritonport.tune.space import Space

KERNEL = "m:gated"
SETS = [{"BK": 128}, {"BK": 64}, {"BK": 32}]
SPACE = Space(KERNEL, cube=True, tiles=())


def captured(*cases: str) -> Captured:
    tried = {
        name: tuple(Tried(KERNEL, n, f"{name} {tiles['BK']}") for n, tiles in enumerate(SETS))
        for name in cases
    }
    found = (CapturedCase(name, (Launch(KERNEL, name, (1, 1, 1)),), None, (), tried[name]) for name in cases)
    return Captured(tuple(found), {name: Unit(KERNEL, "m.py", 1, "") for name in cases}, {})


class Compiler:
    """Fits what it is told. refused: (case, tile, whether with one buffer)."""

    def __init__(self, *refused: tuple[str, int, bool]) -> None:
        self.refused = set(refused)

    def measure(self, _captured: Captured, unit: str, options: Options = ()) -> Measurement:
        case, tile = unit.split()
        fits = (case, int(tile), options == ONE_BUFFER) not in self.refused
        return replace(FITS, fits=fits)


def confirmed(compiler: Compiler, *cases: str) -> tuple[dict[str, int], Options]:
    search: Any = Search.__new__(Search)
    search.compiler, search.budget = compiler, Budget()
    best = Candidate(frozenset(), SETS[0], (), score([], SETS[0], 0))
    winner = search._confirm(captured(*cases), _State(SPACE, cases[0]), best, SETS)
    return dict(winner.tiles), winner.options


def test_what_holds_everywhere_stays() -> None:
    assert confirmed(Compiler(), "gate", "none") == ({"BK": 128}, ())


def test_other_options_before_smaller_tiles() -> None:
    assert confirmed(Compiler(("none", 128, False)), "gate", "none") == ({"BK": 128}, ONE_BUFFER)


def test_smaller_tiles_where_no_options_hold() -> None:
    compiler = Compiler(("none", 128, False), ("gate", 128, True))
    assert confirmed(compiler, "gate", "none") == ({"BK": 64}, ())


def test_the_larger_of_two_smaller_tiles() -> None:
    refused = [("none", 128, False), ("none", 64, False), ("gate", 128, True)]
    assert confirmed(Compiler(*refused), "gate", "none") == ({"BK": 64}, ONE_BUFFER)
