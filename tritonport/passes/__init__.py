"""One small file per rule. A module that defines RULE is a rule; the others are parts that rules share."""

from __future__ import annotations

import importlib
import pkgutil
from functools import cache

from tritonport.engine.rule import Rule
from tritonport.errors import UserError
from tritonport.plugins import rule_packages


@cache
def built_in_rules() -> dict[str, Rule]:
    """The rules of this package by slug."""
    found: dict[str, Rule] = {}
    for info in pkgutil.iter_modules(__path__):
        rule = getattr(importlib.import_module(f"{__name__}.{info.name}"), "RULE", None)
        if rule is not None:
            found[rule.slug] = rule
    return found


@cache
def all_rules() -> dict[str, Rule]:
    """Every rule by slug: the built-in ones, then those of installed rule packages.

    Raises UserError when a package has a rule of a name that is taken.
    """
    found = dict(built_in_rules())
    for package in rule_packages():
        for rule in package.rules:
            if rule.slug in found:
                raise UserError(
                    f"{package.release} has a rule {rule.slug!r}, which exists already", "rename it"
                )
            found[rule.slug] = rule
    return found
