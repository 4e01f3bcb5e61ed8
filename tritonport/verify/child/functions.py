"""Finds function objects by their code, and by module and qualified name. Nothing here knows a name in
advance."""

from __future__ import annotations

import gc
from collections.abc import Iterable
from dataclasses import dataclass
from pathlib import Path
from types import CodeType, FunctionType


@dataclass(frozen=True, slots=True, order=True)
class FunctionKey:
    """Where a function is defined: `module` and `qualname` (`Layer.forward`)."""

    module: str
    qualname: str

    def __str__(self) -> str:
        return f"{self.module}:{self.qualname}"

    @classmethod
    def parse(cls, text: str) -> FunctionKey:
        module, _, qualname = text.partition(":")
        return cls(module, qualname)


def key_of_code(code: CodeType) -> FunctionKey | None:
    """The function that runs this code, or None where there is none (a module body)."""
    for holder in gc.get_referrers(code):
        if isinstance(holder, FunctionType) and holder.__code__ is code:
            return FunctionKey(holder.__module__, holder.__qualname__)
    return None


def find_function(key: FunctionKey, roots: Iterable[Path]) -> FunctionType | None:
    """The function itself, not a decorator's wrapper that borrowed its name, from a file under one of the
    roots.

    Of several definitions of one name the last one counts, as it does for a caller.
    """
    allowed = tuple(roots)
    name = key.qualname.rpartition(".")[2]
    found = [
        o
        for o in gc.get_objects()
        if isinstance(o, FunctionType)
        and o.__qualname__ == key.qualname
        and o.__module__ == key.module
        and o.__code__.co_name == name
        and any(is_under(o.__code__.co_filename, root) for root in allowed)
    ]
    return max(found, key=lambda f: f.__code__.co_firstlineno, default=None)


def is_under(file: str | Path, root: Path) -> bool:
    return Path(file).is_relative_to(root)
