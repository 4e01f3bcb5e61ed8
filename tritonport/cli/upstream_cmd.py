"""`tritonport upstream`: the releases after a known one, and what each changes for the kernels."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Annotated, Any

import typer

from tritonport.check import read_lock
from tritonport.cli import options as opt
from tritonport.cli.console import note, progress_bar, stdout
from tritonport.config import load
from tritonport.errors import ExitCode, UserError
from tritonport.report.write import check_target, write_bytes
from tritonport.sources.manifest import Manifest, manifest_of, manifest_providing, manifests
from tritonport.sources.resolve import module_of
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
    target: opt.Target = None,
    profile: opt.Profile = None,
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
    jobs: opt.Jobs = None,
    offline: Annotated[
        bool, typer.Option(help="Only releases that the manifest lists and the cache has.")
    ] = False,
    quiet: opt.Quiet = False,
) -> None:
    """List the releases on the package index after the known one, convert each, and say what it changes per kernel.

    Exit 1 if a kernel is newly unresolved, or a release cannot be converted.
    """
    show_as = _format(output_format)
    files = [_report_file(text) for text in report or []]
    if add_to is not None and not add_to.is_file():
        raise UserError(f"no such manifest: {add_to}")
    known = _known(lock, src, distribution, since)
    asked = opt.Asked(target, profile, jobs=jobs)
    options = asked.options(load(Path.cwd()), "tritonport upstream", known.settings)
    line = Line(known.distribution, known.entry, options, offline)
    with progress_bar(quiet=quiet) as show:
        listed = _listed(known.distribution) if offline else releases(known.distribution)
        result = follow(line, known.since, newer(listed, known.since), show)
    stdout().out(show_as(result), end="", highlight=False)
    for render, path in files:
        write_bytes(path, render(result).encode())
    for text in (text for release in result.releases for text in release.notes):
        note(text, quiet=quiet)
    for version in add_to_manifest(result, add_to) if add_to is not None else ():
        note(f"added {version} to {add_to}", quiet=quiet)
    if any(release.needs_a_look for release in result.releases):
        raise typer.Exit(ExitCode.FINDINGS)


@dataclass(frozen=True, slots=True)
class _Known:
    """What is known and followed. settings: of the lock, where one was given."""

    distribution: str
    entry: str
    since: str
    settings: Mapping[str, Any] = field(default_factory=dict[str, Any])


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
    about = found["source"]
    if not (about.get("distribution") and about.get("version")):
        raise UserError(f"{out} was made from sources on disk, not from a release", "give SRC and --dist")
    return _Known(about["distribution"], src or about["entry"], since or about["version"], found["settings"])


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


def _format(name: str) -> Callable[[UpstreamResult], str]:
    if name not in FORMATS:
        raise UserError(f"unknown format {name!r}", f"known: {', '.join(FORMATS)}")
    return FORMATS[name]


def _report_file(text: str) -> tuple[Callable[[UpstreamResult], str], Path]:
    name, sign, path = text.partition("=")
    if not sign or not path:
        raise UserError(f"cannot read --report {text!r}", "write FORMAT=PATH")
    check_target(Path(path))
    return _format(name), Path(path)
