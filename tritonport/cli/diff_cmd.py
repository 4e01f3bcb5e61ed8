"""`tritonport diff SRC OUT`: what a migration changed, on the terminal or as a patch."""

from __future__ import annotations

import sys
from pathlib import Path
from typing import Annotated

import typer

from tritonport.catalog import entries
from tritonport.cli import options as opt
from tritonport.cli.console import note, stdout
from tritonport.discover import discover
from tritonport.discover.parse import decode
from tritonport.emit.lock import read_dropped, read_lines
from tritonport.errors import UserError
from tritonport.report.changes import run_changes
from tritonport.report.diff import diff_lines, print_diff
from tritonport.report.patch import patch
from tritonport.report.write import write_bytes
from tritonport.sources.tree import SourceTree
from tritonport.verify.output import Output, read_output, source_of


def diff(
    src: Annotated[str, typer.Argument(metavar="SRC", help="The sources that OUT was made from.")],
    out: opt.Output,
    from_spec: opt.FromSpec = None,
    emit: Annotated[str, typer.Option(help="text, or patch: what `git apply` takes.")] = "text",
    to: opt.WriteTo = None,
    quiet: Annotated[bool, typer.Option("--quiet", "-q", help="No notes.")] = False,
) -> None:
    """Show what migrate changed, with the rules beside the lines; or write it as a patch against upstream."""
    if emit not in ("text", "patch"):
        raise UserError(f"unknown --emit {emit!r}", "text or patch")
    output = read_output(out)
    source = source_of(output, src, from_spec or _release(output, src))
    for line in source.notes:
        note(line, quiet=quiet)
    if emit == "patch":
        _write(patch(_pairs(output, source)), to)
    else:
        _print(output, source, to)


def _release(output: Output, src: str) -> str | None:
    """The release that the lock names, where SRC is a module of it and no path."""
    about = output.source
    if Path(src).exists() or not (about.get("distribution") and about.get("version")):
        return None
    return f"{about['distribution']}=={about['version']}"


def _pairs(output: Output, source: SourceTree) -> dict[str, tuple[bytes | None, bytes]]:
    """Each file of the output with upstream's; the run-time module has none."""
    pairs: dict[str, tuple[bytes | None, bytes]] = {}
    for name in output.lock["files"]:
        before = source.root / name
        pairs[name] = (before.read_bytes() if before.is_file() else None, (output.folder / name).read_bytes())
    return pairs


def _print(output: Output, source: SourceTree, to: Path | None) -> None:
    origins = read_lines(output.folder)
    if not origins:
        raise UserError(f"{output.folder} has no line map", "migrate again with this version")
    texts = {name: decode((output.folder / name).read_bytes()) for name in origins}
    files = run_changes(discover(source), texts, origins, read_dropped(output.folder))["files"]
    classes = {entry.slug: entry.rule_class for entry in entries()}
    if to is None:
        print_diff(files, classes, stdout())
        return
    lines = (f"{line.plain}\n" for line in diff_lines(files, classes))
    write_bytes(to, "".join(lines).encode())


def _write(data: bytes, to: Path | None) -> None:
    if to is not None:
        write_bytes(to, data)
        return
    sys.stdout.buffer.write(data)
    sys.stdout.buffer.flush()
