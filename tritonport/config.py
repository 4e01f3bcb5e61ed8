"""Configuration: `[tool.tritonport]` in pyproject.toml, or tritonport.toml. An unknown key is an error.

[tool.tritonport]
target = "a2"              # a file of rules/targets
profile = "baseline"       # a file of rules/profiles
schedule = "contiguous"    # or "interleaved"
verify = ["interpret"]     # tiers that migrate runs when --verify is not given
jobs = 2
ignore = ["launch-options"]  # rules not to run
extend-rules = ["my-rule"]   # rules of installed packages, after the profile's (docs/extending.md)
overrides = ["npu/overrides.toml"]  # files or folders, relative to this file: single kernels (docs/overrides.md)
data = ["npu/rules"]         # folders in the form of rules/: more profiles, targets, tuning (docs/extending.md)
"""

from __future__ import annotations

import os
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from tritonport.errors import UserError
from tritonport.passes import all_rules
from tritonport.profiles import known_rules, profile_names
from tritonport.record import TIERS
from tritonport.resources import DATA_VARIABLE
from tritonport.targets import target_names
from tritonport.toml import line_of_key, read_toml

SCHEDULES = ("contiguous", "interleaved")
# Tiers that `migrate --verify` can run by itself; parse always runs.
RUNNABLE_TIERS = ("interpret", "hazard", "gpu", "npu-compile")


@dataclass(frozen=True, slots=True)
class Config:
    """Defaults of the command line's options. file: where they were read, None without a configuration.

    given: the options that the file names; the others have the tool's own default.
    """

    target: str = "a2"
    profile: str = "baseline"
    schedule: str = "contiguous"
    verify: tuple[str, ...] = ()
    jobs: int = 1
    ignore: tuple[str, ...] = ()
    extend_rules: tuple[str, ...] = ()
    overrides: tuple[str, ...] = ()
    data: tuple[str, ...] = ()
    file: Path | None = None
    given: frozenset[str] = field(default=frozenset(), compare=False)

    def override_paths(self) -> tuple[Path, ...]:
        """The configured override files and folders, found from the configuration's own folder."""
        folder = self.file.parent if self.file is not None else Path()
        return tuple(folder / path for path in self.overrides)


def load(start: Path) -> Config:
    """The configuration of the nearest folder that has one, from start upwards.

    Raises UserError, naming file and line, for invalid TOML, an unknown key or rule, and a wrong value.
    """
    for folder in (start.absolute(), *start.absolute().parents):
        own = folder / "tritonport.toml"
        if own.is_file():
            return _checked(own, read_toml(own))
        project = folder / "pyproject.toml"
        if project.is_file():
            table = read_toml(project).get("tool", {}).get("tritonport")
            if table is not None:
                return _checked(project, table)
    return Config()


def _checked(file: Path, table: Mapping[str, Any]) -> Config:
    values: dict[str, Any] = {}
    # Data folders first: the other options may name what is in them.
    for key, value in sorted(table.items(), key=lambda item: item[0] != "data"):
        check = _CHECKS.get(key)
        if check is None:
            raise _error(file, key, f"unknown option {key!r}", f"known: {', '.join(sorted(_CHECKS))}")
        try:
            values[key.replace("-", "_")] = check(value)
        except ValueError as error:
            raise _error(file, key, f"{key}: {error}") from error
        if key == "data":
            _use(file, values["data"])
    return Config(**values, file=file, given=frozenset(values))


def _use(file: Path, folders: tuple[str, ...]) -> None:
    """Data folders hold for this process and those that it starts."""
    known = [part for part in os.environ.get(DATA_VARIABLE, "").split(os.pathsep) if part]
    for folder in folders:
        path = (file.parent / folder).resolve()
        if not path.is_dir():
            raise _error(file, "data", f"data: no such folder: {path}")
        if str(path) not in known:
            known.append(str(path))
    os.environ[DATA_VARIABLE] = os.pathsep.join(known)


def _error(file: Path, key: str, message: str, hint: str = "") -> UserError:
    return UserError(message, hint, file=str(file), line=line_of_key(file, key))


def _one_of(names: Callable[[], tuple[str, ...]]) -> Callable[[Any], str]:
    def check(value: Any) -> str:
        if value not in names():
            raise ValueError(f"unknown value {value!r}, known: {', '.join(names())}")
        return value

    return check


def _some_of(names: Callable[[], tuple[str, ...]]) -> Callable[[Any], tuple[str, ...]]:
    def check(value: Any) -> tuple[str, ...]:
        if not isinstance(value, list):
            raise ValueError(f"a list is needed, not {value!r}")
        return tuple(_one_of(names)(item) for item in value)  # pyright: ignore[reportUnknownVariableType]

    return check


def _paths(value: Any) -> tuple[str, ...]:
    if not isinstance(value, list) or not all(isinstance(item, str) and item for item in value):  # pyright: ignore[reportUnknownVariableType]
        raise ValueError(f"a list of paths is needed, not {value!r}")
    return tuple(value)  # pyright: ignore[reportUnknownVariableType]


def _count(value: Any) -> int:
    if not isinstance(value, int) or isinstance(value, bool) or value < 1:
        raise ValueError(f"a whole number from 1 on is needed, not {value!r}")
    return value


_CHECKS: dict[str, Callable[[Any], Any]] = {
    "target": _one_of(target_names),
    "profile": _one_of(profile_names),
    "schedule": _one_of(lambda: SCHEDULES),
    "verify": _some_of(lambda: tuple(tier for tier in TIERS if tier in RUNNABLE_TIERS)),
    "jobs": _count,
    "ignore": _some_of(lambda: tuple({*known_rules(), *all_rules()})),
    "extend-rules": _some_of(lambda: tuple(all_rules())),
    "data": _paths,
    "overrides": _paths,
}
