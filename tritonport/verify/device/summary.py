"""What a tier with a device found, in lines: the device, then each kernel with its bits, error and time."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

from tritonport.record import TierResult
from tritonport.verify.model import Check, TierReport

WHOLE = "whole operator"


@dataclass(frozen=True, slots=True)
class Row:
    """One kernel over all cases. bitwise: every comparison with the original was equal bit for bit. error: the
    largest relative error to the original, None where nothing was compared. before, after: milliseconds of all
    timed launches, 0 where none was timed."""

    kernel: str
    result: TierResult
    bitwise: bool
    error: float | None
    before: float
    after: float

    @property
    def ratio(self) -> float | None:
        """after / before; over 1 is slower."""
        return self.after / self.before if self.before else None


def rows(report: TierReport) -> tuple[Row, ...]:
    """A row for each kernel of the report, by name."""
    return tuple(
        _row(report, verdict.name, verdict.result) for verdict in sorted(report.kernels, key=lambda v: v.name)
    )


def _row(report: TierReport, name: str, result: TierResult) -> Row:
    checks = list(_comparisons(report, name))
    times = [t for c in report.cases for t in c.times if t.kernel == name and t.before is not None]
    return Row(
        name,
        result,
        bool(checks) and all(check.bitwise for check in checks),
        max((check.relative for check in checks), default=None),
        sum(time.before or 0.0 for time in times),
        sum(time.after for time in times),
    )


def _comparisons(report: TierReport, name: str) -> Iterator[Check]:
    """With the original, in calls that launch the kernel."""
    for case in report.cases:
        for host in case.hosts:
            if name in host.kernels:
                yield from (check for check in host.checks if check.against == "original")


def operators(report: TierReport) -> tuple[tuple[str, float, float], ...]:
    """Case, and milliseconds of its whole operator before and after."""
    return tuple(
        (case.id, time.before, time.after)
        for case in report.cases
        for time in case.times
        if time.kernel == WHOLE and time.before is not None
    )


def summary(report: TierReport) -> list[str]:
    """Lines for a person."""
    if report.result == "not-run":
        return []
    lines = [", ".join(f"{name} {value}" for name, value in report.versions.items())]
    lines += [_line(row) for row in rows(report)]
    lines += [f"{case}: {_times(before, after)}" for case, before, after in operators(report)]
    lines += [f"{case.id}: {case.outcome}: {case.why}" for case in report.cases if case.outcome == "not-run"]
    return lines


def _line(row: Row) -> str:
    timed = f", {_times(row.before, row.after)}" if row.before else ""
    return f"{row.kernel}: {row.result}{_numbers(row)}{timed}"


def _numbers(row: Row) -> str:
    if row.bitwise:
        return ", bit for bit"
    return "" if row.error is None else f", relative error {row.error:.1e}"


def _times(before: float, after: float) -> str:
    return f"{before:.3f} ms -> {after:.3f} ms ({after / before:.2f})"
