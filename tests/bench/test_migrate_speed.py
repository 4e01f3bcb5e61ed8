"""The gate on speed, measured once; `python -m tests.bench.migrate_speed` measures it properly."""

from __future__ import annotations

from collections.abc import Callable

from tests.bench.migrate_speed import CEILING, measure
from tritonport.sources import SourceTree


def test_migration_takes_at_most_twenty_times_what_parsing_and_printing_takes(
    fla_tree: Callable[[str], SourceTree],
) -> None:
    speed = measure(fla_tree("0.6.0"), repeat=1)
    assert speed.files > 40
    assert speed.ratio <= CEILING, speed
