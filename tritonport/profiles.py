"""The profiles of rules/profiles: which rules run, in which order."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from pathlib import Path

from tritonport.errors import UserError
from tritonport.resources import named_files
from tritonport.toml import read_toml


@dataclass(frozen=True, slots=True)
class Profile:
    """One rules/profiles/<name>.toml."""

    name: str
    title: str
    rules: tuple[str, ...]


def profile_names() -> tuple[str, ...]:
    return tuple(sorted(_files()))


def load_profile(name: str) -> Profile:
    """The profile of that name. Raises UserError for an unknown one."""
    if name not in profile_names():
        raise UserError(f"unknown profile {name!r}", f"known: {', '.join(profile_names())}")
    data = read_toml(_files()[name])
    return Profile(data["name"], data["title"], tuple(data["rules"]))


def known_rules() -> tuple[str, ...]:
    """Slugs of every rule that some profile names, sorted."""
    return tuple(sorted({slug for name in profile_names() for slug in load_profile(name).rules}))


def active_rules(
    profile: str, *, ignore: Iterable[str] = (), skip: Iterable[str] = (), extend: Iterable[str] = ()
) -> tuple[str, ...]:
    """The profile's rules in order, then those that the configuration adds, without those that it ignores and the
    target skips."""
    without = {*ignore, *skip}
    every = dict.fromkeys([*load_profile(profile).rules, *extend])
    return tuple(slug for slug in every if slug not in without)


def _files() -> dict[str, Path]:
    """Every profile's file by name. Raises UserError where one of the user's has a name that is taken."""
    return named_files("profiles")
