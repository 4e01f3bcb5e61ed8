"""Time grows with the number of lines and not faster; the whole package keeps within its memory."""

from __future__ import annotations

import pytest

from tests.bench.migrate_scale import ENTRIES, Run, run, too_steep


def test_a_job_that_grows_faster_than_its_lines_is_found() -> None:
    small, large = Run("a", 1, 1000, 1.0, 1.0, 1.0), Run("b", 4, 4000, 4.0, 4.0, 1.0)
    assert not too_steep([small, large])
    assert too_steep([small, Run("c", 4, 4000, 16.0, 16.0, 1.0)])


@pytest.mark.slow
@pytest.mark.network
def test_time_per_line_does_not_grow() -> None:
    runs = [run(entry, "0.6.0", jobs=2) for entry in ENTRIES]
    assert runs[0].lines * 3 < runs[1].lines * 2 < runs[2].lines
    assert not too_steep(runs), runs
    assert max(item.memory for item in runs) < 1024, runs
