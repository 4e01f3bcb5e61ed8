"""Rules from installed packages: entry points of the group `tritonport.rules` (docs/extending.md).

An entry point names a module. A module that defines RULE is a rule; of a package, every module that does. Its folder
`catalog/` has the pages and examples, in the form of rules/catalog.
"""

from __future__ import annotations

import importlib
import pkgutil
from collections.abc import Iterator
from dataclasses import dataclass
from functools import cache
from importlib.metadata import EntryPoint, entry_points
from pathlib import Path
from types import ModuleType

from tritonport.engine.rule import Rule
from tritonport.errors import UserError

GROUP = "tritonport.rules"


@dataclass(frozen=True, slots=True)
class RulePackage:
    """One entry point. release: `distribution version`. catalog: None where the package has no pages."""

    name: str
    release: str
    rules: tuple[Rule, ...]
    catalog: Path | None


@cache
def rule_packages() -> tuple[RulePackage, ...]:
    """Every installed rule package, by name. Raises UserError for one that cannot be imported or has no rule."""
    found = sorted(entry_points(group=GROUP), key=lambda point: point.name)
    return tuple(_package(point) for point in found)


def _package(point: EntryPoint) -> RulePackage:
    release = f"{point.dist.name} {point.dist.version}" if point.dist is not None else point.value
    try:
        module = point.load()
        rules = tuple(_rules(module))
    except Exception as error:
        raise UserError(
            f"the rule package {point.name!r} ({release}) cannot be imported: {' '.join(str(error).split())}",
            "mend or uninstall it",
        ) from error
    if not rules:
        raise UserError(
            f"the rule package {point.name!r} ({release}) has no rule", "a module of it must define RULE"
        )
    folder = Path(module.__file__ or "").parent / "catalog"
    return RulePackage(point.name, release, rules, folder if folder.is_dir() else None)


def _rules(module: ModuleType) -> Iterator[Rule]:
    modules = [module]
    if hasattr(module, "__path__"):
        names = (info.name for info in pkgutil.iter_modules(module.__path__))
        modules += [importlib.import_module(f"{module.__name__}.{name}") for name in names]
    for found in modules:
        rule = getattr(found, "RULE", None)
        if rule is not None:
            if not isinstance(rule, Rule):
                raise TypeError(f"RULE of {found.__name__} has no slug, rule_class or run")
            yield rule
