"""SARIF 2.1.0: findings, and every change as a reviewable result that carries its fix."""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping, Sequence
from itertools import groupby
from typing import Any
from urllib.parse import quote

from tritonport.report.figures import Run
from tritonport.report.findings import OVERRIDE, Finding, findings, tier_rule
from tritonport.report.rule_pages import RulePage, rule_pages
from tritonport.report.since import hunk_rules, hunks, release_of

SCHEMA = "https://docs.oasis-open.org/sarif/sarif/v2.1.0/errata01/os/schemas/sarif-schema-2.1.0.json"
UPSTREAM, OUTPUT = "UPSTREAM", "OUT"
MOST = 5000
"""Results that code scanning shows of one run. Changes beyond it are left out and counted; findings never are."""
EXTRA = {
    tier_rule("parse"): "The output is Python and keeps every comment",
    tier_rule("interpret"): "Migrated kernels compute what the originals compute",
    tier_rule("hazard"): "Migrated kernels are free of the target's traps",
    tier_rule("gpu"): "Migrated kernels compute on a GPU what the originals compute",
    tier_rule("npu-compile"): "The Ascend compiler takes the output, and it fits",
    tier_rule("npu-run"): "The output computes on an Ascend device what was recorded",
    OVERRIDE: "Overrides and suppressions still hold",
}
"""What a result that no rewriting rule made speaks about."""
REVIEW = {"exact": "the same values, bit for bit", "reordered": "the same maths in another order"}
NOTICE = "notice"


def sarif(run: Run) -> str:
    """The log of a run, as JSON text with a final newline. The same run gives the same bytes."""
    found = findings(run)
    changed = list(hunks(run)) if "changes" in run else []
    pages = rule_pages(_slugs(found, changed), {})
    used = [*pages, *(name for name in EXTRA if any(f.rule == name for f in found)), NOTICE]
    index = {name: at for at, name in enumerate(used)}
    results = [_finding(f, index, pages) for f in found]
    ends = {file["path"]: file.get("newline", "\n") for file in run.get("changes", {}).get("files", ())}
    changes = [_change(run, path, ends[path], hunk, index, pages) for path, hunk in changed]
    results += changes[: max(0, MOST - len(results))]
    left = len(found) + len(changes) - len(results)
    log = {"$schema": SCHEMA, "version": "2.1.0", "runs": [_run(run, used, pages, results, left)]}
    return json.dumps(log, indent=2, ensure_ascii=False) + "\n"


def _slugs(found: Sequence[Finding], changed: Sequence[tuple[str, Any]]) -> set[str]:
    own = {f.rule for f in found if f.rule not in EXTRA}
    return own.union(*(hunk_rules(hunk) for _, hunk in changed))


def _run(
    run: Run,
    used: Sequence[str],
    pages: Mapping[str, RulePage],
    results: Sequence[Mapping[str, Any]],
    left: int,
) -> dict[str, Any]:
    driver = {
        "name": "tritonport",
        "version": run["tool"]["version"],
        "rules": [_descriptor(name, pages.get(name)) for name in used],
    }
    return {
        "tool": {"driver": driver},
        "automationDetails": {"id": f"tritonport/{run['source']['entry']}/{run['target']}/{run['profile']}/"},
        "originalUriBaseIds": {
            UPSTREAM: {"description": {"text": f"the sources: {release_of(run)}"}},
            OUTPUT: {"description": {"text": "the folder that migrate made"}},
        },
        "artifacts": _artifacts(run),
        "results": list(results),
        "columnKind": "unicodeCodePoints",
        "newlineSequences": ["\r\n", "\n", "\r"],
        "properties": {
            "command": run.get("command", ""),
            "target": run["target"],
            "profile": run["profile"],
            "sourceDigest": run["source"]["digest"],
            "changesLeftOut": left,
        },
    }


def _artifacts(run: Run) -> list[dict[str, Any]]:
    files = (run.get("changes") or {}).get("files", ())
    return [
        {
            "location": _location(file["path"]),
            "hashes": {"sha-256": file["source"].removeprefix("sha256:")},
            "sourceLanguage": "python",
        }
        for file in files
    ]


def _location(path: str, base: str = UPSTREAM) -> dict[str, str]:
    return {"uri": quote(path), "uriBaseId": base}


def _descriptor(name: str, page: RulePage | None) -> dict[str, Any]:
    if page is None:
        title = EXTRA.get(name, "The notice that names tool, release and digest")
        said = {"text": title}
        return {"id": name, "shortDescription": said, "fullDescription": said, "help": said}
    return {
        "id": page.code or page.slug,
        **({"name": page.slug} if page.code else {}),
        "shortDescription": {"text": page.title},
        "fullDescription": {"text": f"{page.title} ({page.rule_class})"},
        "help": {"text": page.text or page.title, "markdown": page.text or page.title},
        "defaultConfiguration": {"level": "warning"},
        "properties": {"tags": ["tritonport", page.rule_class], "class": page.rule_class},
    }


def _rule(name: str, index: Mapping[str, int], pages: Mapping[str, RulePage]) -> dict[str, Any]:
    page = pages.get(name)
    return {"ruleId": (page.code or page.slug) if page else name, "ruleIndex": index[name]}


def _finding(found: Finding, index: Mapping[str, int], pages: Mapping[str, RulePage]) -> dict[str, Any]:
    result: dict[str, Any] = {
        **_rule(found.rule, index, pages),
        "level": found.level,
        "message": {"text": f"{found.kernel}: {found.text}" if found.kernel else found.text},
        "locations": [_place(found.file, found.line, found.kernel)],
        "partialFingerprints": _fingerprints(found.fingerprint),
    }
    if found.rule == OVERRIDE:  # a file of the user, not of the sources
        del result["locations"][0]["physicalLocation"]["artifactLocation"]["uriBaseId"]
    if found.out_line is not None:
        result["relatedLocations"] = [
            {
                "physicalLocation": {
                    "artifactLocation": _location(found.file, OUTPUT),
                    "region": {"startLine": found.out_line},
                },
                "message": {"text": "this line of the output"},
            }
        ]
    if found.accepted is not None:
        result["suppressions"] = [{"kind": "external", "status": "accepted", "justification": found.accepted}]
    return result


def _fingerprints(mark: str) -> dict[str, str]:
    """Code scanning reads primaryLocationLineHash, and computes it from the checkout, which has no upstream file."""
    return {"tritonport/v1": mark, "primaryLocationLineHash": f"{mark[:16]}:1"}


def _place(file: str, line: int, name: str, last: int | None = None) -> dict[str, Any]:
    region = {"startLine": line} if last is None else {"startLine": line, "endLine": last}
    place: dict[str, Any] = {"physicalLocation": {"artifactLocation": _location(file), "region": region}}
    if name:
        place["logicalLocations"] = [{"fullyQualifiedName": name, "kind": "function"}]
    return place


def _change(
    run: Run, path: str, newline: str, hunk: Any, index: Mapping[str, int], pages: Mapping[str, RulePage]
) -> dict[str, Any]:
    """One hunk: nothing is wrong with it (level none), but somebody should look at it (kind review).

    newline: how lines of upstream's file end, and so those of the fix.
    """
    rules = sorted(hunk_rules(hunk), key=lambda slug: (-_lines_of(hunk, slug), slug))
    classes = sorted({pages[slug].rule_class for slug in rules})
    what = ", ".join(rules) if rules else "the notice of the file's head"
    meaning = "; ".join(REVIEW[name] for name in classes if name in REVIEW)
    replacements = list(_replacements(hunk, newline))
    first = replacements[0]["deletedRegion"]["startLine"]
    last = max(first, int(hunk["before"]) - 1 + _last_removed(hunk))
    return {
        **_rule(rules[0] if rules else NOTICE, index, pages),
        "kind": "review",
        "level": "none",
        "message": {"text": f"{hunk['function']}: {what}" + (f" ({meaning})" if meaning else "")},
        "locations": [_place(path, first, _module(path, hunk["function"]), last)],
        "partialFingerprints": _fingerprints(hunk["fingerprint"]),
        "fixes": [
            {
                "description": {"text": f"what tritonport writes for {run['target']}"},
                "artifactChanges": [{"artifactLocation": _location(path), "replacements": replacements}],
            }
        ],
        "properties": {"rules": rules, "classes": classes, "kernels": hunk["kernels"]},
    }


def _lines_of(hunk: Any, slug: str) -> int:
    return sum(slug in line[2] for line in hunk["lines"] if len(line) > 2)


def _module(path: str, function: str) -> str:
    module = path.removesuffix(".py").replace("/", ".").removesuffix(".__init__")
    return module if function == "<module>" else f"{module}.{function}"


def _last_removed(hunk: Any) -> int:
    """Which of the hunk's upstream lines is the last that the fix takes away, from 1; 0 for none."""
    upstream = [line[0] for line in hunk["lines"] if line[0] != "+"]
    return max((at for at, tag in enumerate(upstream, 1) if tag == "-"), default=0)


def _replacements(hunk: Any, newline: str) -> Iterator[dict[str, Any]]:
    """Whole lines: from the start of the first to the start of the line after the last, or to the file's end."""
    line = int(hunk["before"])
    for same, group in groupby(hunk["lines"], key=lambda item: item[0] == "="):
        lines = list(group)
        old = [item for item in lines if item[0] != "+"]
        if not same:
            after = (line + len(old), 1)
            if old and _end(old[-1], newline) == "":
                after = (line + len(old) - 1, len(old[-1][1]) + 1)
            new = [item for item in lines if item[0] == "+"]
            yield _replacement(line, after, "".join(item[1] + _end(item, newline) for item in new))
        line += len(old)


def _end(line: Any, newline: str) -> str:
    return line[3] if len(line) > 3 else newline


def _replacement(first: int, after: tuple[int, int], text: str) -> dict[str, Any]:
    region = {"startLine": first, "startColumn": 1, "endLine": after[0], "endColumn": after[1]}
    return {"deletedRegion": region, **({"insertedContent": {"text": text}} if text else {})}
