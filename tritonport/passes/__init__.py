"""One small file per rule. A module that defines RULE is a rule; the others are parts that rules share."""

from __future__ import annotations

import importlib
import pkgutil
from functools import cache

from tritonport.engine.rule import Rule


@cache
def all_rules() -> dict[str, Rule]:
    """Every built-in rule by slug."""
    found: dict[str, Rule] = {}
    for info in pkgutil.iter_modules(__path__):
        rule = getattr(importlib.import_module(f"{__name__}.{info.name}"), "RULE", None)
        if rule is not None:
            found[rule.slug] = rule
    return found
