"""The profiles of rules/profiles: which rules run, in which order."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from pathlib import Path

from tritonport.errors import UserError
from tritonport.resources import rules_root
from tritonport.toml import read_toml


@dataclass(frozen=True, slots=True)
class Profile:
    """One rules/profiles/<name>.toml."""

    name: str
    title: str
    rules: tuple[str, ...]


def profile_names() -> tuple[str, ...]:
    return tuple(sorted(path.stem for path in _folder().glob("*.toml")))


def load_profile(name: str) -> Profile:
    """The profile of that name. Raises UserError for an unknown one."""
    if name not in profile_names():
        raise UserError(f"unknown profile {name!r}", f"known: {', '.join(profile_names())}")
    data = read_toml(_folder() / f"{name}.toml")
    return Profile(data["name"], data["title"], tuple(data["rules"]))


def known_rules() -> tuple[str, ...]:
    """Slugs of every rule that some profile names, sorted."""
    return tuple(sorted({slug for name in profile_names() for slug in load_profile(name).rules}))


def active_rules(profile: str, *, ignore: Iterable[str] = (), skip: Iterable[str] = ()) -> tuple[str, ...]:
    """The profile's rules in order, without those that the configuration ignores and the target skips."""
    without = {*ignore, *skip}
    return tuple(slug for slug in load_profile(profile).rules if slug not in without)


def _folder() -> Path:
    return rules_root() / "profiles"
