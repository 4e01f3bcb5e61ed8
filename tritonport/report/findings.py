"""What of a run.json somebody should look at, one by one: the source of SARIF, annotations, Markdown and JUnit."""

from __future__ import annotations

import hashlib
from collections import Counter
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import Any, Literal

from tritonport.record import TIERS
from tritonport.report.figures import compiler_messages

Run = Mapping[str, Any]
Level = Literal["error", "warning", "note"]
OVERRIDE = "override"
"""Rule of a finding about an entry of an overrides file."""


@dataclass(frozen=True, slots=True)
class Finding:
    """One finding. rule: a slug, `tier/<name>`, or `override`. file, line: upstream's; of an override its own file.

    out_line: line in the output, where it was found there. accepted: why it does not count, None when it does.
    fingerprint: of rule, kernel and text, so it stays when lines move.
    """

    rule: str
    level: Level
    text: str
    kernel: str
    file: str
    line: int
    fingerprint: str
    out_line: int | None = None
    accepted: str | None = None


def tier_rule(tier: str) -> str:
    return f"tier/{tier}"


def findings(run: Run) -> tuple[Finding, ...]:
    """Every finding of a run, errors first, then by place. Those that are accepted come last."""
    seen: Counter[str] = Counter()
    made = [_numbered(found, seen) for found in _all(run)]
    order = ("error", "warning", "note")
    return tuple(
        sorted(
            made,
            key=lambda f: (
                f.accepted is not None,
                order.index(f.level),
                f.file or "~",
                f.line or 0,
                f.fingerprint,
            ),
        )
    )


def _numbered(found: Finding, seen: Counter[str]) -> Finding:
    """Equal texts in one kernel are told apart by their order."""
    base = f"{found.rule}\0{found.kernel}\0{found.text}"
    seen[base] += 1
    mark = hashlib.sha256(f"{base}\0{seen[base]}".encode()).hexdigest()[:32]
    return Finding(
        found.rule,
        found.level,
        found.text,
        found.kernel,
        found.file,
        found.line,
        mark,
        found.out_line,
        found.accepted,
    )


def _all(run: Run) -> Iterator[Finding]:
    messages = [said for said in compiler_messages(run) if said.side == "after"]
    refused = {said.kernel for said in messages}
    places = {kernel["name"]: (kernel["file"], kernel["line"]) for kernel in run["kernels"]}
    for kernel in run["kernels"]:
        if kernel.get("reachable", True):
            yield from _of_kernel(run, kernel, said=kernel["name"] in refused)
    for said in messages:
        cases = f" (cases {', '.join(said.cases)})"
        yield Finding(
            tier_rule("npu-compile"),
            "error",
            f"{said.text}{cases}",
            said.kernel,
            *((said.file, said.line) if said.file and said.line else places[said.kernel]),
            "",
            said.out_line,
        )
    for item in run.get("overrides", ()):
        if item["state"] != "applied":
            yield Finding(
                OVERRIDE,
                "warning",
                f"{item['file']}: {item['state']} {item['kind']} of {item['kernel']}: {item['why']}",
                item["kernel"],
                item["file"],
                1,
                "",
            )


def _of_kernel(run: Run, kernel: Mapping[str, Any], *, said: bool) -> Iterator[Finding]:
    """said: the compiler's own messages say already why its tier failed."""
    name, apart = kernel["name"], kernel.get("apart")
    level: Level = "error" if kernel["outcome"] == "not-converted" else "warning"
    for item in kernel["unresolved"]:
        place = (name, item["file"], item["line"], "")
        yield Finding(
            item["slug"], level, item["why"], *place, accepted=f"listed apart: {apart}" if apart else None
        )
    for item in kernel.get("suppressed", ()):
        place = (name, item["file"], item["line"], "")
        yield Finding(
            item["slug"], "warning", item["why"], *place, accepted=f"{item['reason']} ({item['by']})"
        )
    for tier in TIERS:
        if kernel["tiers"][tier] == "fail" and not (said and tier == "npu-compile"):
            why = _reasons(run, tier, name)
            yield Finding(
                tier_rule(tier), "error", f"{tier} failed: {why}", name, kernel["file"], kernel["line"], ""
            )


def _reasons(run: Run, tier: str, kernel: str) -> str:
    for verdict in (run.get(tier) or {}).get("kernels", ()):
        if verdict["name"] == kernel and verdict["reasons"]:
            return "; ".join(verdict["reasons"])
    return "see the report of the run"
