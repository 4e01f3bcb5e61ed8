"""Prints what became of every mutant at the end of the run, survivors first."""

from __future__ import annotations

from typing import Any

import pytest

PROPERTY = "mutants"
"""Tests hand their rows over under this name: tier, fault, tree, kernel, case, reason."""


def pytest_terminal_summary(terminalreporter: Any) -> None:
    reports = [r for kind in ("passed", "failed") for r in terminalreporter.stats.get(kind, ())]
    rows = [row for r in reports for name, rows in r.user_properties if name == PROPERTY for row in rows]
    if not rows:
        return
    survivors = [row for row in rows if row[0] == "SURVIVED"]
    terminalreporter.section(f"{len(rows)} mutants, survivors: {len(survivors)}")
    widths = [max(len(row[i]) for row in rows) for i in range(5)]
    for row in (*survivors, *(row for row in rows if row[0] != "SURVIVED")):
        terminalreporter.write_line(
            "  ".join(t.ljust(w) for t, w in zip(row, widths, strict=False)) + "  " + row[5]
        )


@pytest.fixture
def table(request: pytest.FixtureRequest) -> list[tuple[str, ...]]:
    """Rows of the test that asks; printed at the end."""
    rows: list[tuple[str, ...]] = []
    request.node.user_properties.append((PROPERTY, rows))
    return rows
