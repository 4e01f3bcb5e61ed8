"""Markdown for a job summary or a pull request: what happened, in tables that GitHub shows."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import Any, Final

from tritonport.record import TIERS
from tritonport.report.figures import Run, case_lines, npu_figures
from tritonport.report.findings import Finding, findings
from tritonport.report.since import Since, compare, hunks, release_of

MOST_BYTES: Final = 1024 * 1024
"""GitHub refuses a step's summary above 1 MiB."""
CUT: Final = "\n_Cut here: a job summary holds no more. The review page has everything._\n"
MOST_FINDINGS: Final = 50
SIGNS: Final = {"pass": "✓", "fail": "**✗**", "not-run": "–"}


def markdown(run: Run, old: Run | None = None) -> str:
    """The summary, ending in a newline. old: an earlier run, for what changed since then."""
    text = "\n".join(_lines(run, old)) + "\n"
    data = text.encode()
    if len(data) <= MOST_BYTES:
        return text
    kept = data[: MOST_BYTES - len(CUT.encode())].decode(errors="ignore")
    return kept[: kept.rindex("\n") + 1] + CUT


def _lines(run: Run, old: Run | None) -> Iterator[str]:
    counts = run["summary"]
    yield f"## {_text(release_of(run))} for {run['target']}, profile {run['profile']}"
    yield ""
    yield (
        f"{counts['converted']} of {counts['kernels']} kernels converted, {counts['needs_review']} to review, "
        f"{counts['not_converted']} not converted. tritonport {run['tool']['version']}, "
        f"source `{run['source']['digest'][:19]}…`."
    )
    if "command" in run:
        yield from ("", "```bash", run["command"], "```")
    yield from _findings(findings(run))
    yield from _kernels(run)
    yield from _cases(run)
    if old is not None and "changes" in old and "changes" in run:
        yield from _since(run, compare(run, old))


def _text(text: str) -> str:
    """Escaped for a table's cell: no markup, no line of its own."""
    for sign in "\\`*_[]<>|":
        text = text.replace(sign, f"\\{sign}")
    return " ".join(text.split())


def _table(head: Sequence[str], rows: Iterable[Sequence[str]]) -> Iterator[str]:
    yield ""
    yield f"| {' | '.join(head)} |"
    yield f"|{'|'.join(' --- ' for _ in head)}|"
    yield from (f"| {' | '.join(row)} |" for row in rows)


def _findings(found: Sequence[Finding]) -> Iterator[str]:
    open_ = [f for f in found if f.accepted is None]
    if not open_:
        return
    yield from ("", f"### {len(open_)} finding{'s' if len(open_) > 1 else ''}")
    rows = [
        (
            f.level,
            f.rule,
            f"`{f.file}:{f.line}`",
            _text(f"{f.kernel.partition(':')[2]}: {f.text}"),
        )
        for f in open_[:MOST_FINDINGS]
    ]
    yield from _table(("level", "rule", "upstream line", "finding"), rows)
    if len(open_) > MOST_FINDINGS:
        yield from ("", f"and {len(open_) - MOST_FINDINGS} more")


def _kernels(run: Run) -> Iterator[str]:
    counted = [k for k in run["kernels"] if k.get("reachable", True) and not k.get("apart")]
    ran = [tier for tier in TIERS if any(k["tiers"][tier] != "not-run" for k in counted)]
    idle = [tier for tier in TIERS if tier not in ran]
    yield from ("", "### Kernels")
    head = ("kernel", "outcome", *ran, "UB", "scalar", "discrete")
    yield from _table(head, (_row(kernel, ran) for kernel in counted))
    if idle:
        yield from ("", f"Not run: {', '.join(idle)}.")


def _row(kernel: Mapping[str, Any], tiers: Sequence[str]) -> list[str]:
    found = npu_figures(kernel)
    cells = [
        f"`{kernel['name'].partition(':')[2]}`",
        kernel["outcome"],
        *(SIGNS[kernel["tiers"][t]] for t in tiers),
    ]
    if found is None:
        return [*cells, "", "", ""]
    ub = [None if value is None else f"{value:g} %" for value in found.ub]
    return [*cells, _pair(ub), _pair(found.scalar), _pair(found.discrete)]


def _pair(values: Sequence[Any]) -> str:
    return " → ".join("?" if value is None else str(value) for value in values)


def _cases(run: Run) -> Iterator[str]:
    cases = case_lines(run)
    if not cases:
        return
    yield from ("", "### Numerics")
    rows = [
        (
            case.tier,
            f"`{case.case}`",
            case.outcome,
            a.against,
            f"{a.bitwise} of {a.count}",
            f"{a.relative:.1e}" + (f", {a.near_zero} near zero" if a.near_zero else ""),
            f"{a.bound:.1e}",
        )
        for case in cases
        for a in case.against
    ]
    yield from _table(("tier", "case", "result", "against", "bit for bit", "relative error", "bound"), rows)


def _since(run: Run, since: Since) -> Iterator[str]:
    yield from ("", f"### Since {_text(since.release)}", "")
    yield f"{since.same} hunks are the same, {len(since.changed)} are new or changed, {since.lost} are gone."
    if since.changed:
        rows = [
            (
                f"`{path}`",
                f"`{hunk['function']}`",
                _text("; ".join(f"{c.kind} changed: {c.why}" for c in causes)),
            )
            for path, hunk in hunks(run)
            if (causes := since.changed.get(hunk["fingerprint"])) is not None
        ]
        yield from _table(("file", "function", "why"), rows)
