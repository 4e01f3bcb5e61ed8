"""`tritonport report run.json -o review.html`: any report of a run that was recorded earlier."""

from __future__ import annotations

import json
import sys
from collections.abc import Mapping
from pathlib import Path
from typing import Annotated, Any

import typer

from tritonport.cli import options as opt
from tritonport.cli.console import note
from tritonport.errors import UserError
from tritonport.record import SCHEMA
from tritonport.report.github import github
from tritonport.report.junit import junit
from tritonport.report.markdown import markdown
from tritonport.report.merge import with_tiers
from tritonport.report.review import review_html
from tritonport.report.sarif import sarif
from tritonport.report.write import check_target, write_bytes

SUFFIXES = {".html": "html", ".htm": "html", ".sarif": "sarif", ".md": "markdown", ".xml": "junit"}
FORMATS = ("html", "sarif", "markdown", "junit", "github")
UNREADABLE = (AttributeError, IndexError, KeyError, TypeError, ValueError)
"""What a report stumbles over in a record that was edited by hand, or that another version made."""
MEMBERS = ("tool", "source", "target", "profile", "kernels", "summary")


def report(
    run: Annotated[
        Path, typer.Argument(metavar="RUN.JSON", help="What `migrate --report json=run.json` wrote.")
    ],
    to: opt.WriteTo = None,
    since: Annotated[
        Path | None,
        typer.Option(metavar="OLD.JSON", help="An earlier run: say for each changed hunk what changed."),
    ] = None,
    verified: Annotated[
        list[Path] | None,
        typer.Option(
            metavar="VERIFY.JSON", help="What `verify` recorded later of the same output; repeatable."
        ),
    ] = None,
    output_format: Annotated[
        str | None,
        typer.Option("--format", help=f"{', '.join(FORMATS)}; default: by the file's name, else html."),
    ] = None,
    quiet: Annotated[bool, typer.Option("--quiet", "-q", help="No notes.")] = False,
) -> None:
    """Make the review page, or another report, from the record of a run."""
    name = output_format or SUFFIXES.get(to.suffix if to is not None else ".html", "html")
    opt.check_format(name, *FORMATS)
    if to is not None:
        check_target(to)
    elif name == "html" and sys.stdout.isatty():
        raise UserError("a page of HTML is nothing for a terminal", "name a file: -o review.html")
    data = read_run(run)
    for later in verified or ():
        data = with_tiers(data, read_run(later), str(later))
    old = None if since is None else read_run(since)
    for file, record in ((run, data), (since, old)):
        if since is not None and record is not None and "changes" not in record:
            raise UserError(
                "the record holds no changes", "migrate writes them; verify does not", file=str(file)
            )
    try:
        text = render(name, data, old)
    except UNREADABLE as error:
        raise UserError(*_other_version(data), file=str(run)) from error
    if to is None:
        sys.stdout.write(text)
    else:
        write_bytes(to, text.encode())
        note(f"{name} report of {run.name}: {to}", quiet=quiet)


def _other_version(run: Mapping[str, Any]) -> tuple[str, str]:
    """What is wrong with a record whose parts are not where this version looks for them, and the way out."""
    tool = run["tool"]
    made = (
        f"tritonport {tool['version']}" if isinstance(tool, dict) and "version" in tool else "something else"
    )
    return (
        f"not a record as this version writes it; {made} made it",
        "migrate again, or make the report with the version that made the record",
    )


def render(name: str, run: Mapping[str, Any], old: Mapping[str, Any] | None) -> str:
    """One report of a parsed run.json."""
    if name == "html":
        return review_html(run, old)
    if name == "markdown":
        return markdown(run, old)
    return {"sarif": sarif, "junit": junit, "github": github}[name](run)


def read_run(path: Path) -> dict[str, Any]:
    """A parsed run.json. Raises UserError for anything else."""
    try:
        data = json.loads(path.read_text(encoding="utf-8"))
    except FileNotFoundError as error:
        raise UserError("no such file", "migrate --report json=run.json makes one", file=str(path)) from error
    except (ValueError, IsADirectoryError) as error:
        raise UserError(
            "not a run.json", "migrate --report json=run.json makes one", file=str(path)
        ) from error
    if not isinstance(data, dict) or data.get("schema") != SCHEMA or any(m not in data for m in MEMBERS):
        raise UserError(
            f"not a record of schema {SCHEMA}", "migrate --report json=run.json makes one", file=str(path)
        )
    return data  # pyright: ignore[reportUnknownVariableType]
