"""Which upstream line each output line comes from, and which rules wrote it."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from difflib import SequenceMatcher

from tritonport.lines import bare_lines, split_lines


@dataclass(frozen=True, slots=True)
class Origin:
    """line: 1-based upstream line, None only in a file that upstream does not have. rules: slugs, sorted."""

    line: int | None
    rules: tuple[str, ...] = ()


def identity(text: str) -> tuple[Origin, ...]:
    return tuple(Origin(number) for number, _ in enumerate(split_lines(text), 1))


def dropped(before: Iterable[Origin], after: Iterable[Origin], slug: str) -> dict[int, str]:
    """Upstream lines that had a place before this rule and have none after it: the rule took them away."""
    left = {origin.line for origin in after}
    return {o.line: slug for o in before if o.line is not None and o.line not in left}


def still_dropped(lines: Mapping[int, str], origins: Iterable[Origin]) -> dict[int, str]:
    """Without those that a later rule pointed at again."""
    present = {origin.line for origin in origins}
    return {line: slug for line, slug in sorted(lines.items()) if line not in present}


def advance(origins: tuple[Origin, ...], before: str, after: str, slug: str) -> tuple[Origin, ...]:
    """Origins of the lines of `after`, given those of `before`; changed and new lines belong to the rule."""
    old, new = bare_lines(before), bare_lines(after)
    result: list[Origin] = []
    for tag, i1, i2, j1, j2 in SequenceMatcher(None, old, new, autojunk=False).get_opcodes():
        if tag == "equal":
            result += origins[i1:i2]
            continue
        for offset in range(j2 - j1):
            result.append(
                _written(origins, min(i1 + offset, max(i2 - 1, i1 - 1, 0)), slug, replaced=offset < i2 - i1)
            )
    return tuple(result)


def _written(origins: tuple[Origin, ...], index: int, slug: str, *, replaced: bool) -> Origin:
    """An inserted line points at the line before it; a replaced one keeps the rules that wrote it earlier."""
    if not origins:
        return Origin(None, (slug,))
    source = origins[min(index, len(origins) - 1)]
    rules = {slug, *source.rules} if replaced else {slug}
    return Origin(source.line, tuple(sorted(rules)))
