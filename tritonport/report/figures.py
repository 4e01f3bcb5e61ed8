"""The figures of a run.json, in the few numbers that a table shows: use of memory, iterations, comparisons."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import PurePosixPath
from typing import Any

Run = Mapping[str, Any]


@dataclass(frozen=True, slots=True)
class NpuLine:
    """One kernel in one case of one toolchain: what the compiler said before and after; None where it did not say."""

    toolchain: str
    case: str
    before: Mapping[str, Any] | None
    after: Mapping[str, Any] | None


@dataclass(frozen=True, slots=True)
class NpuFigures:
    """The worst of each figure over all cases. ub: percent of the unified buffer. lines: the cases themselves."""

    ub: tuple[float | None, float | None]
    scalar: tuple[int | None, int | None]
    discrete: tuple[int | None, int | None]
    lines: tuple[NpuLine, ...]


def npu_figures(kernel: Mapping[str, Any]) -> NpuFigures | None:
    """The figures of one kernel of run.json, or None where no compiler saw it."""
    lines = tuple(_lines(kernel.get("npu") or ()))
    if not lines:
        return None
    return NpuFigures(
        _worst(lines, "ub_percent"),
        _worst(lines, "scalar_iterations"),
        _worst(lines, "discrete_elements"),
        lines,
    )


def _lines(entries: Sequence[Mapping[str, Any]]) -> Iterator[NpuLine]:
    for entry in entries:
        tools = entry.get("toolchain") or {}
        names = [
            f"{name.replace('_', '-')} {tools[name]}"
            for name in ("triton_ascend", "ascendnpu_ir")
            if name in tools
        ]
        for case in entry["cases"]:
            yield NpuLine(", ".join(names), case["case"], case.get("before"), case.get("after"))


def _worst(lines: Sequence[NpuLine], name: str) -> Any:
    sides = ([line.before for line in lines], [line.after for line in lines])
    found = [
        [side[name] for side in column if side is not None and side[name] is not None] for column in sides
    ]
    return tuple(max(values) if values else None for values in found)


@dataclass(frozen=True, slots=True)
class Compiler:
    """One message of the compiler. file, line: upstream's where they are known; out_line: the output's."""

    kernel: str
    side: str
    cases: tuple[str, ...]
    kind: str
    text: str
    file: str | None
    line: int | None
    out_line: int | None
    rules: tuple[str, ...]


def compiler_messages(run: Run) -> tuple[Compiler, ...]:
    """Every message once, with the cases that it was printed for."""
    found: dict[tuple[Any, ...], list[str]] = {}
    for kernel in run["kernels"]:
        for entry in kernel.get("npu") or ():
            for said in entry.get("messages") or ():
                after = said["side"] == "after"
                line = said["upstream_line"] if after else said["line"]
                place = (said["file"], line, said["line"] if after else None, tuple(said["rules"]))
                key = (kernel["name"], said["side"], said["kind"], said["text"], *place)
                found.setdefault(key, []).append(said["case"])
    return tuple(
        Compiler(name, side, tuple(cases), kind, text, *place)
        for (name, side, kind, text, *place), cases in found.items()
    )


@dataclass(frozen=True, slots=True)
class Against:
    """All comparisons of a case with one thing (`original`, `reference`): the worst of them.

    relative: ||out - ref|| / ||ref||, with its bound and where that comes from. ulps: the largest single error in
    units in the last place. near_zero: comparisons that passed above the bound, since what they compare is a difference
    of equal sums, and is off by no more than fp32 sums of such numbers; they are left out of the other figures.
    """

    against: str
    count: int
    bitwise: int
    relative: float
    bound: float
    source: str
    ulps: float
    near_zero: int


@dataclass(frozen=True, slots=True)
class CaseLine:
    """One case of a tier that compares outputs. checks: every comparison in words. hazards: what the traps caught."""

    tier: str
    case: str
    operator: str
    outcome: str
    why: str | None
    cores: int
    against: tuple[Against, ...]
    checks: tuple[Mapping[str, Any], ...]
    hazards: tuple[str, ...]


COMPARED = ("interpret", "hazard", "gpu", "npu-run")
"""Tiers that compare outputs case by case."""


def case_lines(run: Run) -> tuple[CaseLine, ...]:
    """Every case of the tiers that compare outputs."""
    return tuple(
        _case(run, tier, case) for tier in COMPARED for case in (run.get(tier) or {}).get("cases", ())
    )


def _case(run: Run, tier: str, case: Mapping[str, Any]) -> CaseLine:
    checks = [{**check, "where": "whole operator"} for check in case["checks"]]
    for host in case["hosts"]:
        checks += [{**check, "where": host["function"]} for check in host["checks"]]
    against = tuple(
        _against(name, [c for c in checks if c["against"] == name])
        for name in dict.fromkeys(c["against"] for c in checks)
    )
    hazards = tuple(
        f"{f['side']}: {f['kind']} at {source_path(run, f['file'])}:{f['line']}: {f['detail']}"
        for f in case.get("findings", ())
    )
    return CaseLine(
        tier,
        case["id"],
        case["operator"],
        case["outcome"],
        case["why"],
        case["cores"],
        against,
        tuple(checks),
        hazards,
    )


def _against(name: str, checks: Sequence[Mapping[str, Any]]) -> Against:
    held = [c for c in checks if not (c["ok"] and c["relative"] > c["bound"])] or checks
    worst = max(held, key=lambda c: (not c["ok"], c["relative"]))
    return Against(
        name,
        len(checks),
        sum(c["bitwise"] for c in checks),
        worst["relative"],
        worst["bound"],
        worst["source"],
        max(c["ulps"] for c in held),
        len(checks) - len(held),
    )


def source_path(run: Run, file: str) -> str:
    """A file's path relative to the source root: no folder of the machine that ran gets into a report."""
    known = (run.get("changes") or {}).get("sources", {})
    parts = PurePosixPath(file).parts
    for start in range(len(parts)):
        path = "/".join(parts[start:])
        if path in known:
            return path
    return parts[-1] if parts else file
