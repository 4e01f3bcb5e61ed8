"""JUnit XML of verification: a suite per tier with a test per kernel, and the cases that they compared."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import Any
from xml.etree import ElementTree

from tritonport.record import TIERS
from tritonport.report.figures import COMPARED, CaseLine, Run, case_lines
from tritonport.report.findings import Finding, findings, tier_rule


def junit(run: Run) -> str:
    """The document, with a final newline. A test that did not run is skipped, with the reason; never passed."""
    root = ElementTree.Element("testsuites", name="tritonport")
    counted = [k for k in run["kernels"] if k.get("reachable", True) and not k.get("apart")]
    cases, found = case_lines(run), findings(run)
    suites = [_suite(tier, [_kernel(run, tier, kernel, found) for kernel in counted]) for tier in TIERS]
    suites += [
        _suite(f"{tier} cases", [_case(case) for case in cases if case.tier == tier])
        for tier in COMPARED
        if any(case.tier == tier for case in cases)
    ]
    root.extend(suites)
    for name in ("tests", "failures", "skipped"):
        root.set(name, str(sum(int(suite.get(name, "0")) for suite in suites)))
    ElementTree.indent(root)
    return f'<?xml version="1.0" encoding="utf-8"?>\n{ElementTree.tostring(root, encoding="unicode")}\n'


def _suite(name: str, tests: Sequence[ElementTree.Element]) -> ElementTree.Element:
    suite = ElementTree.Element("testsuite", name=name, tests=str(len(tests)))
    suite.set("failures", str(sum(test.find("failure") is not None for test in tests)))
    suite.set("errors", "0")
    suite.set("skipped", str(sum(test.find("skipped") is not None for test in tests)))
    suite.extend(tests)
    return suite


def _kernel(run: Run, tier: str, kernel: Mapping[str, Any], found: Sequence[Finding]) -> ElementTree.Element:
    module, _, function = kernel["name"].partition(":")
    test = ElementTree.Element("testcase", classname=f"{tier}.{module}", name=function)
    test.set("file", kernel["file"])
    test.set("line", str(kernel["line"]))
    result = kernel["tiers"][tier]
    if result == "fail":
        texts = [f.text for f in found if f.rule == tier_rule(tier) and f.kernel == kernel["name"]]
        _say(test, "failure", texts or [f"{tier} failed"])
    elif result == "not-run":
        _say(test, "skipped", list(_why_not(run, tier, kernel["name"])))
    return test


def _why_not(run: Run, tier: str, kernel: str) -> Iterator[str]:
    report = run.get(tier) or {}
    found = [v for v in report.get("kernels", ()) if v["name"] == kernel]
    yield next((r for v in found for r in v["reasons"]), None) or report.get("why") or "not run"


def _case(case: CaseLine) -> ElementTree.Element:
    test = ElementTree.Element("testcase", classname=f"{case.tier}.{case.operator}", name=case.case)
    if case.outcome == "fail":
        wrong = [
            f"{c['where']}: {c['what']} against {c['against']}: {c['why']}"
            for c in case.checks
            if not c["ok"]
        ]
        _say(test, "failure", [text for text in (case.why, *wrong, *case.hazards) if text] or ["failed"])
    elif case.outcome != "pass":
        _say(test, "skipped", [case.why or case.outcome])
    return test


def _say(test: ElementTree.Element, tag: str, texts: Sequence[str]) -> None:
    """The first text as the message, all of them as the body. Characters that XML cannot hold are shown as `?`."""
    clean = [
        "".join(c if c in "\t\n" or (ord(c) >= 32 and c not in "\ufffe\uffff") else "?" for c in t)
        for t in texts
    ]
    node = ElementTree.SubElement(test, tag, message=clean[0])
    if len(clean) > 1:
        node.text = "\n".join(clean)
