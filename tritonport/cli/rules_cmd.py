"""`tritonport rules list|explain|test|docs`."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from tritonport.catalog import CatalogEntry, built_in_entries, entries, entries_in, entry
from tritonport.cli.console import stdout
from tritonport.errors import ExitCode
from tritonport.examples import ExampleResult, run_examples
from tritonport.rulepages import outdated, write_pages

rules_app = typer.Typer(help="The rules: what each does and why.", no_args_is_help=True)


def complete_rule(incomplete: str) -> list[str]:
    """Slugs for the shell's completion."""
    return [found.slug for found in entries() if found.slug.startswith(incomplete)]


@rules_app.command("list")
def list_command() -> None:
    """Show every rule, one a line."""
    for found in entries():
        _line(f"{found.code}  {found.slug:<20} {found.rule_class:<10} {found.title}")


@rules_app.command("explain")
def explain_command(
    rule: Annotated[str, typer.Argument(metavar="RULE", help="Slug or code.", autocompletion=complete_rule)],
) -> None:
    """Show the page of one rule."""
    _line(entry(rule).page)


@rules_app.command("test")
def test_command(
    which: Annotated[
        list[str] | None,
        typer.Argument(
            metavar="[RULE|FOLDER]...",
            help="Slugs or codes, or folders with a rule.toml; default: every rule.",
            autocompletion=complete_rule,
        ),
    ] = None,
    verbose: Annotated[
        bool, typer.Option("--verbose", "-v", help="Show the examples that pass, too.")
    ] = False,
) -> None:
    """Run the examples beside the rules: what each becomes, what stays, second runs, comments."""
    passed = failed = 0
    for found in _chosen(which or []):
        for result in run_examples(found):
            passed, failed = passed + (not result.why), failed + bool(result.why)
            _report(result, verbose=verbose)
    _line(f"{passed} checks passed, {failed} failed")
    if failed:
        raise typer.Exit(ExitCode.FINDINGS)


@rules_app.command("docs")
def docs_command(
    folder: Annotated[Path, typer.Argument(metavar="FOLDER", help="Where the pages are, docs/rules.")],
    check: Annotated[
        bool, typer.Option("--check", help="Write nothing; exit 1 if a page is not current.")
    ] = False,
) -> None:
    """Write one page per rule from the catalogue."""
    changed = outdated(built_in_entries(), folder) if check else write_pages(built_in_entries(), folder)
    for name in changed:
        _line(f"{'not current' if check else 'written'}: {folder / name}")
    if check and changed:
        raise typer.Exit(ExitCode.FINDINGS)


def _chosen(which: list[str]) -> list[CatalogEntry]:
    if not which:
        return list(entries())
    return [item for name in which for item in _named(name)]


def _named(name: str) -> tuple[CatalogEntry, ...]:
    """A slug wins over a folder of that name; a path is meant when it has a slash."""
    if any(name in (found.slug, found.code) for found in entries()) or not Path(name).is_dir():
        return (entry(name),)
    return entries_in(Path(name))


def _report(result: ExampleResult, *, verbose: bool) -> None:
    if result.why:
        _line(f"FAIL {result.rule}/{result.name}: {result.why}")
        stdout().out(result.diff, end="", highlight=False)
    elif verbose:
        _line(f"pass {result.rule}/{result.name}")


def _line(text: str) -> None:
    stdout().print(text, soft_wrap=True, highlight=False, markup=False)
