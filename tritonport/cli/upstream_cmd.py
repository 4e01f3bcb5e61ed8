"""`tritonport upstream`: the releases after a known one, and what each changes for the kernels."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Annotated

import typer

from tritonport.check import read_lock
from tritonport.cli.console import note, progress_bar, stdout
from tritonport.cli.migrate_cmd import read_overrides
from tritonport.config import Config, load
from tritonport.errors import ExitCode, UserError
from tritonport.migrate import MigrateOptions
from tritonport.profiles import active_rules
from tritonport.sources.manifest import Manifest, manifest_of, manifest_providing, manifests
from tritonport.sources.resolve import module_of
from tritonport.targets import load_target
from tritonport.upstream.index import newer, releases
from tritonport.upstream.releases import Line, add_to_manifest, follow
from tritonport.upstream.report import FORMATS, UpstreamResult


def upstream(
    src: Annotated[
        str | None,
        typer.Argument(metavar="[SRC]", help="A module of the distribution; default: the corpus' entry."),
    ] = None,
    since: Annotated[
        str | None,
        typer.Option(metavar="VERSION", help="Compare from this release; default: the newest listed."),
    ] = None,
    lock: Annotated[
        Path | None,
        typer.Option(metavar="OUT", help="Take release, SRC, target and profile from this output folder."),
    ] = None,
    distribution: Annotated[
        str | None, typer.Option("--dist", help="The distribution, such as fla-core.")
    ] = None,
    target: Annotated[str | None, typer.Option(help="a2, a3 or a5.")] = None,
    profile: Annotated[str | None, typer.Option(help="baseline, tuned or max.")] = None,
    output_format: Annotated[
        str, typer.Option("--format", help="text, json or markdown on stdout.")
    ] = "text",
    report: Annotated[
        list[str] | None, typer.Option("--report", metavar="FMT=PATH", help="Write it to a file as well.")
    ] = None,
    add_to: Annotated[
        Path | None,
        typer.Option(metavar="MANIFEST", help="Add the releases that were converted to a manifest."),
    ] = None,
    jobs: Annotated[int | None, typer.Option(min=1, help="Processes at one time.")] = None,
    offline: Annotated[
        bool, typer.Option(help="Only releases that the manifest lists and the cache has.")
    ] = False,
    quiet: Annotated[bool, typer.Option("--quiet", "-q", help="No notes and no progress.")] = False,
) -> None:
    """List the releases on the package index after the known one, convert each, and say what it changes per kernel.

    Exit 1 if a kernel is newly unresolved, or a release cannot be converted.
    """
    show_as = _format(output_format)
    files = [_report_file(text) for text in report or []]
    if add_to is not None and not add_to.is_file():
        raise UserError(f"no such manifest: {add_to}")
    known = _known(lock, src, distribution, since)
    line = Line(
        known.distribution, known.entry, _options(known, load(Path.cwd()), target, profile, jobs), offline
    )
    with progress_bar(quiet=quiet) as show:
        listed = _listed(known.distribution) if offline else releases(known.distribution)
        result = follow(line, known.since, newer(listed, known.since), show)
    stdout().out(show_as(result), end="", highlight=False)
    for render, path in files:
        path.write_text(render(result), encoding="utf-8")
    for text in (text for release in result.releases for text in release.notes):
        note(text, quiet=quiet)
    for version in add_to_manifest(result, add_to) if add_to is not None else ():
        note(f"added {version} to {add_to}", quiet=quiet)
    if any(release.needs_a_look for release in result.releases):
        raise typer.Exit(ExitCode.FINDINGS)


@dataclass(frozen=True, slots=True)
class _Known:
    """What is known and followed. target, profile: of the lock, where one was given."""

    distribution: str
    entry: str
    since: str
    target: str | None = None
    profile: str | None = None
    schedule: str | None = None


def _known(lock: Path | None, src: str | None, distribution: str | None, since: str | None) -> _Known:
    if lock is not None:
        return _locked(lock, src, since)
    manifest = _manifest(src, distribution)
    name = distribution or (manifest.distribution if manifest else None)
    entry = src or (manifest.entry if manifest else None)
    if name is None or entry is None:
        raise UserError("nothing says which distribution to follow", "give SRC and --dist, or --lock OUT")
    start = since or (manifest.newest.version if manifest else None)
    if start is None:
        raise UserError(f"no release of {name} is known", "give --since VERSION")
    return _Known(name, entry, start)


def _locked(out: Path, src: str | None, since: str | None) -> _Known:
    found = read_lock(out)
    about, settings = found["source"], found["settings"]
    if not (about.get("distribution") and about.get("version")):
        raise UserError(f"{out} was made from sources on disk, not from a release", "give SRC and --dist")
    names = (settings["target"], settings["profile"], settings["schedule"])
    return _Known(about["distribution"], src or about["entry"], since or about["version"], *names)


def _manifest(src: str | None, distribution: str | None) -> Manifest | None:
    if distribution is not None:
        return manifest_of(distribution)
    if src is not None:
        module = module_of(src)
        return manifest_providing(module) if module else None
    return next(iter(manifests()), None)


def _listed(distribution: str) -> tuple[str, ...]:
    manifest = manifest_of(distribution)
    return tuple(release.version for release in manifest.releases) if manifest else ()


def _options(
    known: _Known, config: Config, target: str | None, profile: str | None, jobs: int | None
) -> MigrateOptions:
    chosen = load_target(target or known.target or config.target)
    name = profile or known.profile or config.profile
    rules = active_rules(name, ignore=config.ignore, skip=chosen.skip, extend=config.extend_rules)
    order = known.schedule or config.schedule
    own = read_overrides(config, None)
    return MigrateOptions(
        chosen.name, name, order, jobs or config.jobs, rules, "tritonport upstream", overrides=own
    )


def _format(name: str) -> Callable[[UpstreamResult], str]:
    if name not in FORMATS:
        raise UserError(f"unknown format {name!r}", f"known: {', '.join(FORMATS)}")
    return FORMATS[name]


def _report_file(text: str) -> tuple[Callable[[UpstreamResult], str], Path]:
    name, sign, path = text.partition("=")
    if not sign or not path or not Path(path).absolute().parent.is_dir():
        raise UserError(f"cannot read --report {text!r}", "write FORMAT=PATH in a folder that exists")
    return _format(name), Path(path)
