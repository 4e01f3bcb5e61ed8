"""The options that several commands share, and what they ask of a migration together."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Annotated, Any

import typer

from tritonport.config import SCHEDULES, Config
from tritonport.engine.assume import parse_assumption
from tritonport.errors import UserError
from tritonport.migrate import EMITS, ORDER, MigrateOptions
from tritonport.overrides import Entry, load_overrides
from tritonport.passes import all_rules
from tritonport.profiles import active_rules
from tritonport.targets import load_target

GUARD_RULE = "mask-removal"
"""The rule that puts a check of an assumption in front of the launches."""

Source = Annotated[
    str, typer.Argument(metavar="SRC", help="A folder, a file, or a module of an installed package.")
]
Output = Annotated[Path, typer.Argument(metavar="OUT", help="A folder that migrate made.")]
FromSpec = Annotated[
    str | None, typer.Option("--from", metavar="DIST==VERSION", help="Take SRC from this release.")
]
Target = Annotated[str | None, typer.Option(help="a2, a3 or a5.")]
Profile = Annotated[str | None, typer.Option(help="baseline, tuned or max.")]
Schedule = Annotated[str | None, typer.Option(help="contiguous or interleaved tasks.")]
Overrides = Annotated[
    list[Path] | None, typer.Option(metavar="PATH", help="Overrides and suppressions of single kernels.")
]
Tuning = Annotated[
    Path | None, typer.Option(metavar="FILE", help="Tiles and rules per kernel, as tune wrote them.")
]
Assume = Annotated[
    list[str] | None,
    typer.Option(
        metavar="EXPR", help='What holds for every launch, like "T % 64 == 0"; checked at run time.'
    ),
]
Toolchain = Annotated[Path | None, typer.Option(help="An existing Ascend compiler environment.")]
Reports = Annotated[
    list[str] | None,
    typer.Option(
        "--report", metavar="FMT=PATH", help="json, html, sarif, markdown, junit or text=PATH; github."
    ),
]
Format = Annotated[str, typer.Option("--format", help="text or json on stdout.")]
WriteTo = Annotated[Path | None, typer.Option("-o", "--output", help="The file to write; default: stdout.")]
Jobs = Annotated[int | None, typer.Option(min=1, help="Processes at one time.")]
Offline = Annotated[bool, typer.Option(help="Use cached wheels only.")]
Quiet = Annotated[bool, typer.Option("--quiet", "-q", help="No notes and no progress.")]


def check_format(name: str, *known: str) -> None:
    """Raises UserError for another format than these."""
    if name not in known:
        raise UserError(f"unknown format {name!r}", f"known: {', '.join(known)}")


@dataclass(frozen=True, slots=True)
class Asked:
    """What a command line says about a migration. What it does not name is None or empty."""

    target: str | None = None
    profile: str | None = None
    schedule: str | None = None
    jobs: int | None = None
    overrides: Sequence[Path] | None = None
    tuning: Path | None = None
    assume: Sequence[str] | None = None
    emit: str | None = None

    def options(
        self, config: Config, command: str, locked: Mapping[str, Any] | None = None
    ) -> MigrateOptions:
        """The command line, then the configuration file, then the settings of a lock, then the tool's own defaults.

        command: named in messages of the run. Raises UserError for an unknown name.
        """
        lock = locked or {}
        target = load_target(self.target or _value("target", config, lock))
        profile = self.profile or _value("profile", config, lock)
        schedule = self.schedule or _value("schedule", config, lock)
        if schedule not in SCHEDULES:
            raise UserError(f"unknown schedule {schedule!r}", f"known: {', '.join(SCHEDULES)}")
        rules = active_rules(profile, ignore=config.ignore, skip=target.skip, extend=config.extend_rules)
        texts = self.assume or lock.get("assumptions") or ()
        return MigrateOptions(
            target.name,
            profile,
            schedule,
            self.jobs or config.jobs,
            rules if not texts or GUARD_RULE in rules else (*rules, GUARD_RULE),
            command,
            tuning=self.tuning,
            overrides=read_overrides(config, self.overrides),
            emit=known_emit(self.emit or str(lock.get("emit", EMITS[0]))),
            assumptions=tuple(parse_assumption(text) for text in texts),
        )


def _value(name: str, config: Config, locked: Mapping[str, Any]) -> str:
    own = str(getattr(config, name))
    return own if name in config.given else str(locked.get(name, own))


def known_emit(emit: str) -> str:
    """Raises UserError for another kind of output than EMITS."""
    if emit not in EMITS:
        raise UserError(f"unknown --emit {emit!r}", f"known: {', '.join(EMITS)}")
    return emit


def read_overrides(config: Config, own: Sequence[Path] | None) -> tuple[Entry, ...]:
    """The entries that count: those of the tool, of the configuration and of the command line."""
    return load_overrides([*config.override_paths(), *(own or ())], all_rules(), ORDER)
