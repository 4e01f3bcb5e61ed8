"""Names that do not clash."""

from __future__ import annotations

from collections.abc import Collection


def fresh(name: str, taken: Collection[str]) -> str:
    """The name itself, or with underscores until nothing else has it."""
    while name in taken:
        name += "_"
    return name
