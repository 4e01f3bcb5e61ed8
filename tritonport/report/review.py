"""The review page: one HTML file that needs no network, and no script to be read."""

from __future__ import annotations

import base64
import hashlib
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import cache
from itertools import groupby
from pathlib import Path
from typing import Any

from jinja2 import Environment, FileSystemLoader, StrictUndefined
from markupsafe import Markup

from tritonport.record import TIERS
from tritonport.report.figures import (
    COMPARED,
    CaseLine,
    Compiler,
    NpuFigures,
    case_lines,
    compiler_messages,
    npu_figures,
)
from tritonport.report.rule_pages import RulePage, rule_pages
from tritonport.report.sides import Row, rows_of
from tritonport.report.since import Cause, Run, Since, compare, content, hunk_rules, hunks, release_of
from tritonport.targets import load_target, target_names

PAGE = Path(__file__).resolve().parent / "page"
WIDEST = 160.0
"""Percent of the unified buffer that a bar shows at most, so that one kernel does not make all others tiny."""
URGENCY = ("not-converted", "needs-review", "converted")


@dataclass(frozen=True, slots=True)
class Fold:
    """Neighbouring rows of one kind. A fold of white space is closed at first."""

    space: bool
    rows: tuple[Row, ...]


@dataclass(frozen=True, slots=True)
class HunkView:
    """A hunk ready to be shown. causes: None when it is compared with nothing or unchanged since then.

    content: what it is in whatever file. moved: the file that it stood in then, None where that is the same.
    """

    fingerprint: str
    content: str
    folds: tuple[Fold, ...]
    rules: tuple[str, ...]
    classes: tuple[str, ...]
    outcomes: tuple[str, ...]
    causes: tuple[Cause, ...] | None
    moved: str | None
    old: tuple[int, int]
    new: tuple[int, int]
    messages: Mapping[tuple[str, int], tuple[Compiler, ...]]
    """Compiler messages by side (`before`, `after`) and that side's line."""


@dataclass(frozen=True, slots=True)
class Section:
    """The hunks of one function. kernel: the kernel that it is, None for host code."""

    anchor: str
    function: str
    kernel: Mapping[str, Any] | None
    launches: tuple[str, ...]
    hunks: tuple[HunkView, ...]


@dataclass(frozen=True, slots=True)
class FileView:
    """One file, its sections in order."""

    path: str
    sections: tuple[Section, ...]


@dataclass(frozen=True, slots=True)
class KernelView:
    """A row of the kernel table. changes: anchor of its section, None where nothing of it was written.

    hunks, changed: how many hunks it has, and how many of them the earlier run did not have.
    """

    data: Mapping[str, Any]
    module: str
    function: str
    npu: NpuFigures | None
    changes: str | None
    hunks: int
    changed: int


@dataclass(frozen=True, slots=True)
class Page:
    """Everything that the template shows."""

    run: Run
    release: str
    target: str
    kernels: tuple[KernelView, ...]
    stuck: tuple[Mapping[str, Any], ...]
    apart: tuple[Mapping[str, Any], ...]
    accepted: tuple[Mapping[str, Any], ...]
    stale: tuple[Mapping[str, Any], ...]
    tiers: Mapping[str, Mapping[str, int]]
    assumptions: tuple[Mapping[str, Any], ...]
    files: tuple[FileView, ...]
    cases: tuple[CaseLine, ...]
    versions: Mapping[str, str]
    bounds: tuple[str, ...]
    messages: tuple[Compiler, ...]
    rules: Mapping[str, RulePage]
    since: Since | None
    bar: float
    """Percent of the unified buffer at the right end of a bar."""


def review_html(run: Run, old: Run | None = None) -> str:
    """The page of a run; the same runs give the same bytes. old: an earlier run, for the cause of each difference."""
    page = _page(run, old)
    style, script = (_asset(name) for name in ("review.css", "review.js"))
    allowed = f"style-src '{_csp(style)}'; script-src '{_csp(script)}'"
    policy = f"default-src 'none'; {allowed}; base-uri 'none'; form-action 'none'"
    template = _environment().get_template("review.html.j2")
    return template.render(page=page, style=Markup(style), script=Markup(script), policy=policy, tiers=TIERS)


@cache
def _environment() -> Environment:
    made = Environment(
        loader=FileSystemLoader(PAGE),
        autoescape=True,
        trim_blocks=True,
        lstrip_blocks=True,
        undefined=StrictUndefined,
    )
    made.filters["percent"] = _percent
    made.filters["number"] = _number
    made.filters["small"] = _small
    return made


def _asset(name: str) -> str:
    return (PAGE / name).read_text(encoding="utf-8")


def _csp(text: str) -> str:
    """The source expression that allows exactly this inline text."""
    return f"sha256-{base64.b64encode(hashlib.sha256(text.encode()).digest()).decode()}"


def _percent(value: float | None) -> str:
    return "?" if value is None else f"{value:.1f}\u00a0%"


def _number(value: int | None) -> str:
    return "?" if value is None else f"{value:,}"


def _small(value: float) -> str:
    """A relative error: `0` or two digits."""
    return "0" if value == 0 else f"{value:.1e}"


def _page(run: Run, old: Run | None) -> Page:
    since = compare(run, old) if old is not None and "changes" in old and "changes" in run else None
    kernels = {kernel["name"]: kernel for kernel in run["kernels"]}
    classes = {use["slug"]: use["class"] for kernel in run["kernels"] for use in kernel["rules"]}
    rules = rule_pages(_slugs(run), classes)
    messages, cases = compiler_messages(run), case_lines(run)
    files = tuple(_files(run, kernels, rules, messages, since)) if "changes" in run else ()
    anchors = {s.kernel["name"]: s for file in files for s in file.sections if s.kernel is not None}
    counted = [k for k in run["kernels"] if k.get("reachable", True) and not k.get("apart")]
    rows = [_kernel(kernel, anchors) for kernel in sorted(counted, key=_urgency)]
    return Page(
        run=run,
        release=release_of(run),
        target=load_target(run["target"]).title if run["target"] in target_names() else run["target"],
        kernels=tuple(rows),
        stuck=tuple(k for k in sorted(counted, key=_urgency) if k["outcome"] != "converted"),
        apart=tuple(k for k in run["kernels"] if k.get("apart")),
        accepted=tuple(item for kernel in run["kernels"] for item in kernel.get("suppressed", ())),
        stale=tuple(item for item in run.get("overrides", ()) if item["state"] != "applied"),
        tiers={tier: _results(counted, tier) for tier in TIERS},
        assumptions=tuple(_assumptions(run, rules)),
        files=files,
        cases=cases,
        versions={tier: text for tier in COMPARED if (text := _versions(run, tier))},
        bounds=tuple(sorted({a.source for case in cases for a in case.against if a.source})),
        messages=messages,
        rules=rules,
        since=since,
        bar=_bar(rows),
    )


def _urgency(kernel: Mapping[str, Any]) -> tuple[int, bool, str]:
    return URGENCY.index(kernel["outcome"]), "fail" not in kernel["tiers"].values(), kernel["name"]


def _slugs(run: Run) -> Iterator[str]:
    for kernel in run["kernels"]:
        yield from (use["slug"] for use in kernel["rules"])
        for name in ("unresolved", "suppressed", "assumptions"):
            yield from (item["slug"] for item in kernel.get(name, ()))
    if "changes" in run:
        for _, hunk in hunks(run):
            yield from hunk_rules(hunk)


def _results(kernels: Sequence[Mapping[str, Any]], tier: str) -> dict[str, int]:
    found = [kernel["tiers"][tier] for kernel in kernels]
    return {result: found.count(result) for result in ("pass", "fail", "not-run")}


def _versions(run: Run, tier: str) -> str:
    """What the tier ran with: `torch 2.13.0, triton 3.6.0`."""
    return ", ".join(
        f"{name} {version}" for name, version in (run.get(tier) or {}).get("versions", {}).items()
    )


def _bar(rows: Sequence[KernelView]) -> float:
    values = [v for row in rows if row.npu is not None for v in row.npu.ub if v is not None]
    return min(max([110.0, *values]), WIDEST)


def _kernel(kernel: Mapping[str, Any], sections: Mapping[str, Section]) -> KernelView:
    module, _, function = kernel["name"].partition(":")
    section = sections.get(kernel["name"])
    return KernelView(
        kernel,
        module,
        function,
        npu_figures(kernel),
        section.anchor if section else None,
        len(section.hunks) if section else 0,
        sum(hunk.causes is not None for hunk in section.hunks) if section else 0,
    )


def _assumptions(run: Run, rules: Mapping[str, RulePage]) -> Iterator[Mapping[str, Any]]:
    """What the output takes for granted: as the record states it, else the assumed rules of each kernel."""
    for kernel in run["kernels"]:
        stated = kernel.get("assumptions") or ()
        yield from ({"kernel": kernel["name"], **item} for item in stated)
        named = {item["slug"] for item in stated}
        for use in kernel["rules"]:
            if use["class"] == "assumed" and use["slug"] not in named:
                text = rules[use["slug"]].title
                yield {"kernel": kernel["name"], "slug": use["slug"], "text": text, "guard": None}


def _files(
    run: Run,
    kernels: Mapping[str, Mapping[str, Any]],
    rules: Mapping[str, RulePage],
    messages: Sequence[Compiler],
    since: Since | None,
) -> Iterator[FileView]:
    for file in run["changes"]["files"]:
        path = file["path"]
        said = [m for m in messages if m.file == path]
        functions: dict[str, list[Any]] = {}
        for hunk in file["hunks"]:
            functions.setdefault(hunk["function"], []).append(hunk)
        yield FileView(
            path,
            tuple(_section(path, name, own, kernels, rules, said, since) for name, own in functions.items()),
        )


def _section(
    path: str,
    function: str,
    own: Sequence[Any],
    kernels: Mapping[str, Mapping[str, Any]],
    rules: Mapping[str, RulePage],
    messages: Sequence[Compiler],
    since: Since | None,
) -> Section:
    names = own[0]["kernels"]
    kernel = next((kernels[n] for n in names if n.partition(":")[2] == function and n in kernels), None)
    outcomes = tuple(sorted({kernels[n]["outcome"] for n in names if n in kernels}))
    return Section(
        anchor="f-" + hashlib.sha256(f"{path}:{function}".encode()).hexdigest()[:12],
        function=function,
        kernel=kernel,
        launches=() if kernel else tuple(n for n in names if n in kernels),
        hunks=tuple(_hunk(hunk, outcomes, rules, messages, since) for hunk in own),
    )


def _hunk(
    hunk: Any,
    outcomes: tuple[str, ...],
    rules: Mapping[str, RulePage],
    messages: Sequence[Compiler],
    since: Since | None,
) -> HunkView:
    rows = rows_of(hunk)
    named = tuple(slug for slug in rules if slug in hunk_rules(hunk))
    old = [row.old.number for row in rows if row.old]
    new = [row.new.number for row in rows if row.new]
    by_line: dict[tuple[str, int], tuple[Compiler, ...]] = {}
    for message in messages:
        line = message.out_line if message.side == "after" else message.line
        if line is not None and line in (new if message.side == "after" else old):
            key = (message.side, line)
            by_line[key] = (*by_line.get(key, ()), message)
    return HunkView(
        fingerprint=hunk["fingerprint"],
        content=content(hunk),
        folds=tuple(_folds(rows, by_line)),
        rules=named,
        classes=tuple(sorted({rules[slug].rule_class for slug in named})),
        outcomes=outcomes,
        causes=since.changed.get(hunk["fingerprint"]) if since else None,
        moved=since.moved.get(hunk["fingerprint"]) if since else None,
        old=(old[0], old[-1]) if old else (hunk["before"], hunk["before"]),
        new=(new[0], new[-1]) if new else (hunk["after"], hunk["after"]),
        messages=by_line,
    )


def _folds(rows: Sequence[Row], messages: Mapping[tuple[str, int], Any]) -> Iterator[Fold]:
    """Runs of rows that changed in white space alone are folds of their own, unless a message stands in them."""

    def folded(row: Row) -> bool:
        said = (row.old and ("before", row.old.number) in messages) or (
            row.new and ("after", row.new.number) in messages
        )
        return row.kind == "space" and not said

    for space, group in groupby(rows, key=folded):
        yield Fold(space, tuple(group))
