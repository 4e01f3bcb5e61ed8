"""The rules of a run as a reader sees them: title, class, and the page of the catalogue as HTML."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass

from markdown_it import MarkdownIt
from markupsafe import Markup

from tritonport.catalog import entries

DEEPER = 3
"""Headings of a rule's page are shown this many levels below those of the page they stand in."""


@dataclass(frozen=True, slots=True)
class RulePage:
    """slug, code, title, rule_class: as in the catalogue. text: Markdown. A rule that is not there has no text."""

    slug: str
    code: str
    title: str
    rule_class: str
    text: str

    @property
    def html(self) -> Markup:
        """The page without its first heading, which repeats the slug. Raw HTML in it is shown as text."""
        parser = MarkdownIt("commonmark", {"html": False}).enable("table")
        tokens = parser.parse(self.text)
        if tokens and tokens[0].type == "heading_open":
            tokens = tokens[3:]
        for token in tokens:
            if token.type == "table_open":
                token.attrSet("tabindex", "0")  # it scrolls where it is too wide, which must not need a mouse
            if token.type in ("heading_open", "heading_close"):
                token.tag = f"h{min(6, int(token.tag[1:]) + DEEPER - 1)}"
        return Markup(parser.renderer.render(tokens, parser.options, {}))


def rule_pages(slugs: Iterable[str], classes: Mapping[str, str]) -> dict[str, RulePage]:
    """The pages of these rules by slug. classes: of rules that an older or newer catalogue has and this one has not."""
    known = {entry.slug: entry for entry in entries()}
    pages: dict[str, RulePage] = {}
    for slug in sorted(set(slugs)):
        entry = known.get(slug)
        if entry is None:
            pages[slug] = RulePage(
                slug, "", "not in this version's catalogue", classes.get(slug, "exact"), ""
            )
        else:
            pages[slug] = RulePage(slug, entry.code, entry.title, entry.rule_class, entry.page)
    return dict(sorted(pages.items(), key=lambda item: (item[1].code or "~", item[0])))
