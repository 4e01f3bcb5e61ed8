"""The two lines that name tool, upstream version and digest in every migrated file, below its own header."""

from __future__ import annotations

from dataclasses import dataclass

from tritonport import __version__
from tritonport.discover.parse import ParsedModule
from tritonport.lines import newline_of, split_lines
from tritonport.sources.tree import SourceTree, digest_bytes

MARK = "# Migrated for Ascend NPUs by tritonport"


@dataclass(frozen=True, slots=True)
class Added:
    """Where lines were inserted (0-based index of the first) and how many."""

    at: int
    lines: int


def with_header(text: str, tree: SourceTree, module: ParsedModule) -> tuple[str, Added]:
    """The text with the notice behind its leading comments; a text that has the notice stays as it is."""
    if MARK in text:
        return text, Added(0, 0)
    upstream = f"{tree.distribution} {tree.version}, " if tree.distribution else ""
    digest = digest_bytes((tree.root / module.file).read_bytes())
    notice = [f"{MARK} {__version__}.", f"# Upstream: {upstream}{module.file}, {digest}."]
    lines = split_lines(text)
    at = 0
    while at < len(lines) and lines[at].startswith("#"):
        at += 1
    newline = newline_of(text)
    block = [f"#{newline}"] * bool(at) + [f"{line}{newline}" for line in notice]
    if not at:
        block.append(newline)
    return "".join([*lines[:at], *block, *lines[at:]]), Added(at, len(block))
