"""The pages of docs/rules, one per rule, made from rules/catalog.

A rule's README is plain Markdown. Paragraphs, or lines of one, that start with a bold label say what they are about:
`**Exact**`, `**Reordered**`, `**Assumed**` (the class), `**Unresolved**`, `**Not applicable**`, `**Left alone**` (when
not), `**Measured**` (the effect, with all that follows). Everything else says what the rule does and why.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

from tritonport.catalog import CatalogEntry
from tritonport.errors import UserError
from tritonport.examples import IN, NOOP, OUT, stem
from tritonport.profiles import load_profile, profile_names

WHY, CLASS, WHEN_NOT, MEASURED = "why", "class", "when not", "measured"
LABELS = {
    "exact": CLASS,
    "reordered": CLASS,
    "assumed": CLASS,
    "unresolved": WHEN_NOT,
    "not applicable": WHEN_NOT,
    "left alone": WHEN_NOT,
    "measured": MEASURED,
}
CLASSES = {
    "exact": "the same values, bit for bit",
    "reordered": "the same mathematics in another order: sums may round differently",
    "assumed": "right under a precondition, which the emitted code checks at run time",
    "manual": "shown, never rewritten",
}
NEEDED = {
    "needed": "a kernel does not run without it",
    "speed": "speed",
    "both": "some kernels do not fit without it; others get faster",
    "correctness": "wrong results on hardware without it",
}
GENERATED = "<!-- Made from rules/catalog by `tritonport rules docs`; edit the catalogue, not this page. -->"


@dataclass(frozen=True, slots=True)
class Sections:
    """A README by what its paragraphs are about; each part is Markdown, empty where the README says nothing."""

    why: str
    rule_class: str
    when_not: str
    measured: str


def sections(page: str) -> Sections:
    """Sort the paragraphs of a README, without its heading."""
    found: dict[str, list[str]] = {WHY: [], CLASS: [], WHEN_NOT: [], MEASURED: []}
    topic = WHY
    for block in page.partition("\n")[2].strip().split("\n\n"):
        topic = MEASURED if topic == MEASURED else WHY
        part: list[str] = []
        for line in block.splitlines():
            label = _label(line)
            if label is not None:
                _keep(found[topic], part)
                topic, part = label, []
            part.append(line)
        _keep(found[topic], part)
    texts = {name: "\n\n".join(parts) for name, parts in found.items()}
    return Sections(texts[WHY], texts[CLASS], texts[WHEN_NOT], texts[MEASURED])


def _keep(parts: list[str], lines: Sequence[str]) -> None:
    if lines:
        parts.append("\n".join(lines))


def _label(line: str) -> str | None:
    if not line.startswith("**"):
        return None
    return LABELS.get(line[2:].partition("**")[0].rstrip(".:").lower())


def page(entry: CatalogEntry) -> str:
    """docs/rules/<slug>.md."""
    said = sections(entry.page)
    profiles = _profiles(entry.slug)
    parts = [
        f"# {entry.code} {entry.slug}",
        GENERATED,
        f"**{entry.title}.**",
        "\n".join(
            (
                "| | |",
                "|---|---|",
                f"| class | {entry.rule_class}: {CLASSES.get(entry.rule_class, '')} |",
                f"| what for | {NEEDED.get(entry.needed, entry.needed)} |",
                f"| profiles | {', '.join(profiles) or 'none yet'} |",
            )
        ),
        "## Message",
        f"`{entry.code}`, in reports `{entry.slug}`: {entry.title}.",
        "## Why on Ascend",
        said.why,
        *_example(entry),
        "## Class",
        said.rule_class or f"{entry.rule_class}: {CLASSES.get(entry.rule_class, '')}.",
        "## Measured effect",
        said.measured or "Nothing to measure: the rule changes no code.",
        "## When not",
        said.when_not or "It applies wherever its pattern stands.",
        *_stays(entry),
    ]
    return "\n\n".join(part.strip("\n") for part in parts) + "\n"


def _example(entry: CatalogEntry) -> list[str]:
    found = sorted(entry.examples.glob(f"*{IN}"))
    if not found:
        return []
    after = found[0].with_name(stem(found[0]) + OUT)
    return ["## Before", _code(found[0]), "## After", _code(after)]


def _stays(entry: CatalogEntry) -> list[str]:
    found = sorted(entry.examples.glob(f"*{NOOP}"))
    return ["This stays as it is:", _code(found[0])] if found else []


def _code(file: Path) -> str:
    return f"```python\n{file.read_text(encoding='utf-8').rstrip()}\n```"


def _profiles(slug: str) -> list[str]:
    return [name for name in profile_names() if slug in load_profile(name).rules]


def index(entries: Sequence[CatalogEntry]) -> str:
    """docs/rules/README.md."""
    rows = [
        f"| {e.code} | [{e.slug}]({e.slug}.md) | {e.title} | {e.rule_class} | {', '.join(_profiles(e.slug))} |"
        for e in entries
    ]
    head = ["| code | rule | what | class | profiles |", "|---|---|---|---|---|"]
    return "\n".join(["# Rules", "", GENERATED, "", *head, *rows]) + "\n"


def pages(entries: Sequence[CatalogEntry]) -> dict[str, str]:
    """Every page by file name."""
    return {"README.md": index(entries), **{f"{e.slug}.md": page(e) for e in entries}}


def write_pages(entries: Sequence[CatalogEntry], folder: Path) -> tuple[str, ...]:
    """Write the pages that are not current, and remove those of rules that are gone. Returns their names."""
    folder.mkdir(parents=True, exist_ok=True)
    changed = outdated(entries, folder)
    made = pages(entries)
    for name in changed:
        if name in made:
            (folder / name).write_text(made[name], encoding="utf-8")
        else:
            (folder / name).unlink()
    return changed


def outdated(entries: Sequence[CatalogEntry], folder: Path) -> tuple[str, ...]:
    """Pages that are missing, differ, or belong to no rule. Raises UserError for a file that no rule page is."""
    made = pages(entries)
    there = {file.name: file.read_text(encoding="utf-8") for file in folder.glob("*.md")}
    for name, text in there.items():
        if name not in made and GENERATED not in text:
            raise UserError("not a generated page", "choose another folder", file=str(folder / name))
    return tuple(sorted(name for name in {*made, *there} if made.get(name) != there.get(name)))
