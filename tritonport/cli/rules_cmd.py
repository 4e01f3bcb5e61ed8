"""`tritonport rules list|explain`."""

from __future__ import annotations

from typing import Annotated

import typer

from tritonport.catalog import entries, entry
from tritonport.cli.console import stdout

rules_app = typer.Typer(help="The rules: what each does and why.", no_args_is_help=True)


@rules_app.command("list")
def list_command() -> None:
    """Show every rule, one a line."""
    for found in entries():
        line = f"{found.code}  {found.slug:<20} {found.rule_class:<10} {found.title}"
        stdout().print(line, soft_wrap=True, highlight=False, markup=False)


@rules_app.command("explain")
def explain_command(rule: Annotated[str, typer.Argument(metavar="RULE", help="Slug or code.")]) -> None:
    """Show the page of one rule."""
    stdout().print(entry(rule).page, soft_wrap=True, highlight=False, markup=False)
