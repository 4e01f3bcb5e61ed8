"""The review page as a file: what it says, that it is whole, safe and the same every time."""

from __future__ import annotations

import json
from html.parser import HTMLParser
from pathlib import Path
from typing import Any

import pytest

from tests.report.conftest import WICKED, Run
from tritonport.catalog import entries
from tritonport.cli.report_cmd import report
from tritonport.report.review import review_html

VOID = {"meta", "input", "col", "br", "rect", "hr", "img"}


class Page(HTMLParser):
    """Elements with their attributes, text per element id, and a check that tags close in order."""

    def __init__(self, text: str) -> None:
        super().__init__()
        self.open: list[str] = []
        self.elements: list[tuple[str, dict[str, str]]] = []
        self.text: list[str] = []
        self.ids: set[str] = set()
        self.feed(text)
        assert self.open == [], self.open

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        own = {name: value or "" for name, value in attrs}
        self.elements.append((tag, own))
        if "id" in own:
            assert own["id"] not in self.ids, f"id {own['id']} twice"
            self.ids.add(own["id"])
        if tag not in VOID:
            self.open.append(tag)

    def handle_startendtag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.elements.append((tag, {name: value or "" for name, value in attrs}))

    def handle_endtag(self, tag: str) -> None:
        assert self.open.pop() == tag

    def handle_data(self, data: str) -> None:
        if self.open[-1:] not in (["script"], ["style"]):
            self.text.append(data)

    def of(self, tag: str, **attributes: str) -> list[dict[str, str]]:
        return [a for t, a in self.elements if t == tag and all(a.get(n) == v for n, v in attributes.items())]

    def classed(self, name: str) -> list[dict[str, str]]:
        return [a for _, a in self.elements if name in a.get("class", "").split()]


def shown(page: Page) -> str:
    return " ".join("".join(page.text).split())


def test_the_top_says_where_it_comes_from_and_how_to_make_it_again(full: Run) -> None:
    text = shown(Page(review_html(full)))
    for part in (
        full["source"]["digest"],
        full["tool"]["rules_digest"],
        full["tool"]["version"],
        "Ascend 910B",
    ):
        assert part in text
    assert full["command"] in text
    assert full["command"].startswith("tritonport migrate demo --target a2 --profile baseline")


def test_what_is_not_converted_comes_before_kernels_and_changes(full: Run) -> None:
    html = review_html(full)
    order = [html.index(f'<section id="{name}"') for name in ("stuck", "kernels", "assumptions", "changes")]
    assert order == sorted(order)
    stuck = html[order[0] : order[1]]
    (kernel,) = [k for k in full["kernels"] if k["outcome"] == "not-converted"]
    assert kernel["name"] in stuck and "demo/odd.py:16" in stuck
    assert "an atomic result" in stuck and "ours.toml" in stuck


def test_every_changed_line_carries_its_rules_with_class_reason_and_a_link(full: Run) -> None:
    html = review_html(full)
    page = Page(html)
    links = [a for a in page.of("a") if "chip" in a.get("class", "")]
    titles = {entry.slug: f"{entry.rule_class}: {entry.title}" for entry in entries()}
    for link in links:
        slug = link["href"].removeprefix("#rule-")
        assert link["href"].removeprefix("#") in page.ids
        assert link["title"] == titles[slug]
    for row in html.split("<tr")[1:]:
        if row.startswith((' class="change', ' class="space')) and "chip" not in row:
            assert "# " in row or "<code>#</code>" in row or "<code></code>" in row, row


def test_a_rule_is_embedded_with_its_whole_text(full: Run) -> None:
    text = shown(Page(review_html(full)))
    page = next(entry for entry in entries() if entry.slug == "grid-collapse").page
    sentence = next(line for line in page.splitlines() if line.startswith("The split is"))
    assert " ".join(sentence.replace("`", "").split()) in text


def test_a_body_that_is_indented_as_a_whole_is_folded(full: Run) -> None:
    html = review_html(full)
    assert "changed in white space only" in html
    assert '<details class="space">' in html and '<details class="space" open' not in html


def test_figures_and_cases_are_there(full: Run) -> None:
    text = shown(Page(review_html(full)))
    for part in ("142.0 %", "45.5 %", "4,224", "rows-64", "back-64", "3.0e-04", "this release has no such"):
        assert part.replace(" %", "\u00a0%") in "".join(text) or part in text, part


def test_a_compiler_message_stands_at_its_line(full: Run) -> None:
    html = review_html(full)
    at = html.index('<tr class="said">')
    assert '<td class="n">16</td>' in html[html.rindex("<tr", 0, at) : at]
    (said,) = [m for kernel in full["kernels"] for entry in kernel["npu"] or () for m in entry["messages"]]
    said |= {"side": "before", "line": 8}
    html = review_html(full)
    at = html.index('<tr class="said before">')
    assert '<td class="n">8</td><td class="o">' in html[html.rindex("<tr", 0, at) : at]


def test_foreign_text_is_shown_and_never_taken_as_markup(full: Run) -> None:
    full["kernels"][0]["name"] = "demo.<b>bold</b>:double_rows"
    html = review_html(full)
    assert "<script>alert" not in html and "<b>bold</b>" not in html
    assert "<script>alert('a|b')</script> & `x`" in "".join(Page(html).text)
    assert WICKED not in html


def test_nothing_is_loaded_from_elsewhere(full: Run) -> None:
    page = Page(review_html(full))
    for tag, attributes in page.elements:
        for name in ("src", "href", "action", "srcset", "data"):
            assert attributes.get(name, "#").startswith("#"), (tag, attributes)
        assert "style" not in attributes and not any(name.startswith("on") for name in attributes)
    (policy,) = [a["content"] for a in page.of("meta", **{"http-equiv": "Content-Security-Policy"})]
    assert policy.startswith("default-src 'none';")


def test_no_path_of_the_machine_is_in_the_page(full: Run) -> None:
    html = review_html(full)
    assert "/home/me" not in html and "demo/back.py:12" in html


def test_tables_have_headers_and_controls_have_names(full: Run) -> None:
    html = review_html(full)
    for table in html.split("<table")[1:]:
        assert 'scope="col"' in table[: table.index("</table>")]
    page = Page(html)
    assert page.of("html", lang="en")
    for name in ("select", "input"):
        assert page.of(name)
    assert html.count("<label") >= len(page.of("select")) + len(page.of("input"))


def test_the_same_run_gives_the_same_bytes(full: Run) -> None:
    assert review_html(full) == review_html(json.loads(json.dumps(full)))


def test_a_record_without_changes_and_tiers_is_a_page_too(record: Run) -> None:
    for name in ("changes", "settings", "command"):
        del record[name]
    text = shown(Page(review_html(record)))
    assert "holds no changes" in text and "Not run" in text


def test_a_rule_that_the_catalogue_lacks_is_named(record: Run) -> None:
    use: dict[str, Any] = {"slug": "of-tomorrow", "class": "assumed", "count": 1}
    record["kernels"][0]["rules"].append(use)
    text = shown(Page(review_html(record)))
    assert "of-tomorrow" in text and "The guard stands in the output" in text


def test_assumptions_stand_with_their_guards(record: Run) -> None:
    record["kernels"][0]["assumptions"] = [
        {"slug": "of-tomorrow", "text": "T is a multiple of 64", "guard": "T % 64 == 0"},
        {"slug": "grid-collapse", "text": "one device", "guard": None},
    ]
    record["kernels"][0]["rules"].append({"slug": "of-tomorrow", "class": "assumed", "count": 1})
    text = shown(Page(review_html(record)))
    assert "T is a multiple of 64. Guard: T % 64 == 0" in text
    assert "one device. The guard stands in the output" in text


def test_report_writes_the_page(demo: Path, tmp_path: Path, capfd: pytest.CaptureFixture[str]) -> None:
    report(demo / "run.json", tmp_path / "review.html")
    Page((tmp_path / "review.html").read_text(encoding="utf-8"))
    said = capfd.readouterr()
    assert said.out == "" and "review.html" in said.err
    report(demo / "run.json", tmp_path / "review.html", quiet=True)
    assert capfd.readouterr().err == ""


def test_what_the_user_asserts_is_shown(full: Run) -> None:
    full["settings"]["assumptions"] = ["T % 64 == 0"]
    assert "<code>--assume</code>, and checked in front of every launch" in review_html(full)
    assert "<code>T % 64 == 0</code>" in review_html(full)
    del full["settings"]["assumptions"]
    assert "--assume" not in review_html(full)
