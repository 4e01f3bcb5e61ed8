"""What replaying a recorded call has in common on the CPU and on a device."""

from __future__ import annotations

import importlib
from dataclasses import replace
from pathlib import Path
from types import FunctionType
from typing import Any

from tritonport.verify.child.encode import Decoder
from tritonport.verify.child.functions import FunctionKey, find_function
from tritonport.verify.model import Check

NOT_JUDGED = "original, not judged"
"""What a kernel is compared with whose original upstream itself calls wrong where it ran."""

_PLACES = {"[0]": "argument ", "[1]": "result"}


class Functions:
    """Functions of the migrated package, each looked for once. roots: where they may lie, the output folder first."""

    def __init__(self, roots: tuple[Path, ...]) -> None:
        self._roots = roots
        self._found: dict[FunctionKey, FunctionType | None] = {}

    def get(self, key: FunctionKey) -> FunctionType | None:
        """None where the migrated package has no such function."""
        if key not in self._found:
            importlib.import_module(key.module)
            self._found[key] = find_function(key, self._roots)
        return self._found[key]


class ShowsContexts(Decoder):
    """Mixed in before a decoder: shows a context as its parts, so that they compare leaf by leaf."""

    def decode(self, tree: Any) -> Any:
        if isinstance(tree, dict) and "context" in tree:
            saved, attributes = tree["context"]
            return {"saved": self.decode(saved), "attributes": self.decode(attributes)}
        return super().decode(tree)


def missing(key: FunctionKey) -> Check:
    """The failed check of a function that the migrated package does not have."""
    return Check("function", "original", False, False, why=f"the migrated package has no {key}")


def not_judged(check: Check) -> Check:
    """A difference from an original that may be wrong itself counts for nothing; equal bits may be told."""
    if check.ok or check.against != "original":
        return check
    return replace(check, ok=True, against=NOT_JUDGED)


def located(check: Check, where: str) -> Check:
    """The check under a name that says which argument or result it is of, and where it was computed."""
    head, rest = check.what[:3], check.what[3:]
    return replace(check, what=f"{_PLACES.get(head, head)}{rest} at {where}")
