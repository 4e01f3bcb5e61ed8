"""SARIF, annotations, Markdown and JUnit: each is read by what reads it in practice, or by its schema."""

from __future__ import annotations

import json
import re
from pathlib import Path
from typing import Any

import jsonschema
import pytest
from junitparser import JUnitXml
from markdown_it import MarkdownIt

from tests.report.conftest import WICKED, Run
from tritonport.report.findings import findings
from tritonport.report.github import LONGEST, github
from tritonport.report.junit import junit
from tritonport.report.markdown import CUT, MOST_BYTES, markdown
from tritonport.report.sarif import sarif

SCHEMA = json.loads((Path(__file__).parent / "data/sarif-2.1.0-rtm.5.json").read_text())


def log_of(run: Run) -> dict[str, Any]:
    log = json.loads(sarif(run))
    jsonschema.Draft4Validator(SCHEMA).validate(log)
    return log["runs"][0]


def test_the_schema_refuses_a_wrong_log(full: Run) -> None:
    log = json.loads(sarif(full))
    log["runs"][0]["results"][0]["level"] = "fatal"
    with pytest.raises(jsonschema.ValidationError, match="fatal"):
        jsonschema.Draft4Validator(SCHEMA).validate(log)


def test_sarif_has_every_finding_with_its_rule_and_help(full: Run) -> None:
    run = log_of(full)
    rules = run["tool"]["driver"]["rules"]
    for result in run["results"]:
        rule = rules[result["ruleIndex"]]
        assert rule["id"] == result["ruleId"]
        assert rule["help"]["text"] and rule["shortDescription"]["text"]
        assert rule["fullDescription"]["text"], "code scanning asks for it"
        assert rule.get("name") != rule["id"], "the specification's validator warns"
    (odd,) = [r for r in result_of(run, "error") if "odd_rows" in r["message"]["text"]]
    assert rules[odd["ruleIndex"]]["name"] == "grid-collapse"
    assert rules[odd["ruleIndex"]]["help"]["markdown"].startswith("# grid-collapse")
    place = odd["locations"][0]["physicalLocation"]
    assert (place["artifactLocation"]["uri"], place["region"]["startLine"]) == ("demo/odd.py", 16)
    said = {rules[r["ruleIndex"]]["id"] for r in result_of(run, "error")}
    assert {"tier/interpret", "tier/npu-compile"} <= said


def result_of(run: dict[str, Any], level: str) -> list[dict[str, Any]]:
    return [result for result in run["results"] if result["level"] == level]


def test_every_result_has_a_place(full: Run) -> None:
    full["overrides"] = [
        {
            "file": "ours.toml",
            "kind": "suppress",
            "kernel": "demo.rows:double_rows",
            "state": "stale",
            "why": "the kernel changed",
        }
    ]
    for kernel in full["kernels"]:
        for entry in kernel["npu"] or ():
            for message in entry["messages"]:
                message |= {"file": None, "line": None, "upstream_line": None}
    found = {
        result["ruleId"]: result["locations"][0]["physicalLocation"] for result in log_of(full)["results"]
    }
    assert found["override"]["artifactLocation"] == {"uri": "ours.toml"}
    assert found["tier/npu-compile"]["artifactLocation"]["uri"] == "demo/back.py"
    assert found["tier/npu-compile"]["region"] == {"startLine": 7}, "the kernel's own line"
    assert "file=ours.toml" in github(full) and "ours.toml" in markdown(full)


def test_an_accepted_finding_is_suppressed_with_its_reason(full: Run) -> None:
    (result,) = [r for r in log_of(full)["results"] if "suppressions" in r]
    assert result["suppressions"] == [
        {"kind": "external", "status": "accepted", "justification": "seen (ours.toml)"}
    ]


def test_fingerprints_stay_when_lines_move_and_are_unique(full: Run) -> None:
    def marks() -> list[str]:
        return [r["partialFingerprints"]["tritonport/v1"] for r in log_of(full)["results"]]

    before = marks()
    assert len(set(before)) == len(before)
    for kernel in full["kernels"]:
        kernel["line"] += 7
        for item in kernel["unresolved"]:
            item["line"] += 7
    for file in full["changes"]["files"]:
        for hunk in file["hunks"]:
            hunk["before"] += 7
            hunk["after"] += 7
    assert sorted(marks()) == sorted(before)


def test_changes_beyond_what_is_shown_are_counted(full: Run, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("tritonport.report.sarif.MOST", 7)
    run = log_of(full)
    assert len(run["results"]) == 7
    assert run["properties"]["changesLeftOut"] > 0
    assert result_of(run, "error"), "findings are never left out"


COMMAND = re.compile(r"^::(error|warning|notice) ([^:]*)::(.*)$")


def read_back(line: str) -> tuple[str, dict[str, str], str]:
    """As GitHub's runner reads a workflow command."""
    found = COMMAND.match(line)
    assert found, line
    level, properties, data = found.groups()
    pairs = dict(item.split("=", 1) for item in properties.split(","))
    for escape, sign in (("%3A", ":"), ("%2C", ","), ("%0D", "\r"), ("%0A", "\n"), ("%25", "%")):
        pairs = {name: value.replace(escape, sign) for name, value in pairs.items()}
        data = data.replace(escape, sign)
    return level, pairs, data


def test_annotations_are_commands_at_upstream_lines(full: Run) -> None:
    lines = [read_back(line) for line in github(full).splitlines()]
    placed = {(level, p.get("file"), p.get("line")) for level, p, _ in lines}
    assert ("error", "demo/odd.py", "16") in placed
    assert ("error", "demo/back.py", "9") in placed, "the upstream line of a message about the output"
    texts = [text for _, _, text in lines]
    assert any(WICKED in text for text in texts)
    assert "2 of 3 kernels converted" in texts[-1]
    assert not any("an atomic result" in text for text in texts), "an accepted finding is no annotation"


def test_annotations_keep_within_githubs_limits(full: Run) -> None:
    (odd,) = [k for k in full["kernels"] if k["outcome"] == "not-converted"]
    odd["unresolved"] = [{**odd["unresolved"][0], "why": f"{n} " + "x" * 70_000} for n in range(30)]
    rows = next(k for k in full["kernels"] if k["name"] == "demo.rows:double_rows")
    rows["outcome"] = "needs-review"
    rows["unresolved"] = [{**odd["unresolved"][0], "why": f"w{n}"} for n in range(30)]
    lines = [read_back(line) for line in github(full).splitlines()]
    levels = [level for level, _, _ in lines]
    assert max(levels.count(name) for name in ("error", "warning", "notice")) <= 10
    assert len(lines) <= 50 and all(len(text) <= LONGEST for _, _, text in lines)
    open_ = sum(f.accepted is None for f in findings(full))
    assert f"{open_ - 20} more findings" in lines[-1][2]


def test_markdown_says_what_happened(full: Run) -> None:
    text = markdown(full)
    html = MarkdownIt("gfm-like", {"html": True, "linkify": False}).render(text)
    assert html.count("<table>") == 3
    assert "<script>" not in html, "foreign text is no markup"
    assert "2 of 3 kernels converted" in text and full["command"] in text
    assert "142 % → 45.5 %" in text and "4224 → 4224" in text
    rows = [line.count("|") - line.count("\\|") for line in text.splitlines() if line.startswith("|")]
    assert all(count >= 4 for count in rows)


def test_markdown_fits_into_a_job_summary(full: Run, monkeypatch: pytest.MonkeyPatch) -> None:
    assert MOST_BYTES == 1024 * 1024
    whole = markdown(full)
    for most in range(len(whole.encode()) // 3, len(whole.encode()), 7):
        monkeypatch.setattr("tritonport.report.markdown.MOST_BYTES", most)
        text = markdown(full)
        kept = text.removesuffix(CUT)
        assert len(text.encode()) <= most and kept != text, "cut, and said so"
        assert whole.startswith(kept) and kept.endswith("\n"), "whole lines"


def test_junit_is_read_by_a_junit_reader(full: Run) -> None:
    suites = {suite.name: suite for suite in JUnitXml.fromstring(junit(full).encode())}
    assert set(suites) == {"parse", "interpret", "hazard", "gpu", "npu-compile", "npu-run", "interpret cases"}
    results = {case.name: case.result for case in suites["interpret"]}
    assert results["double_rows"] == []
    assert [type(r).__name__ for r in results["halve_rows"]] == ["Failure"]
    assert "alert" in results["halve_rows"][0].message
    assert {type(r).__name__ for case in suites["gpu"] for r in case.result} == {"Skipped"}
    cases = {case.name: [type(r).__name__ for r in case.result] for case in suites["interpret cases"]}
    assert cases == {"rows-64": [], "back-64": ["Failure"], "long": ["Skipped"]}
    for suite in suites.values():
        assert suite.tests == len(list(suite))
        assert suite.failures == sum(type(r).__name__ == "Failure" for c in suite for r in c.result)
