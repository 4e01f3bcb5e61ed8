"""`tritonport overrides SRC`: suppressions to fill in, for every finding that nobody has accepted yet."""

from __future__ import annotations

import json
import tempfile
from collections.abc import Iterator
from pathlib import Path
from typing import Annotated

import typer

from tritonport.cli.console import note, progress_bar, stdout
from tritonport.cli.migrate_cmd import read_overrides
from tritonport.config import load
from tritonport.migrate import MigrateOptions, migrate_tree
from tritonport.profiles import active_rules
from tritonport.record import RunRecord
from tritonport.sources import resolve
from tritonport.targets import load_target


def overrides(
    src: Annotated[
        str, typer.Argument(metavar="SRC", help="A folder, a file, or a module of an installed package.")
    ],
    from_spec: Annotated[
        str | None, typer.Option("--from", metavar="DIST==VERSION", help="Take SRC from this release.")
    ] = None,
    target: Annotated[str | None, typer.Option(help="a2, a3 or a5.")] = None,
    profile: Annotated[str | None, typer.Option(help="baseline, tuned or max.")] = None,
    offline: Annotated[bool, typer.Option(help="Use cached wheels only.")] = False,
) -> None:
    """Print a [[suppress]] table for each open finding, to keep in an override file once the reason is filled in.

    Entries that need a look (stale, expired, unused) are named on stderr. Writes nothing.
    """
    config = load(Path.cwd())
    chosen = load_target(target or config.target)
    name = profile or config.profile
    rules = active_rules(name, ignore=config.ignore, skip=chosen.skip, extend=config.extend_rules)
    own = read_overrides(config, None)
    options = MigrateOptions(chosen.name, name, config.schedule, config.jobs, rules, overrides=own)
    with progress_bar() as show, tempfile.TemporaryDirectory(prefix="tritonport-overrides-") as folder:
        tree = resolve(src, from_spec=from_spec, offline=offline, progress=show)
        record = migrate_tree(tree, Path(folder) / "out", options, show).record
    stdout().out("\n".join(_tables(record)), end="", highlight=False)
    for item in record.extra.get("overrides", ()):
        if item["state"] != "applied":
            note(f"{item['state']}: {item['kind']} of {item['kernel']} in {item['file']}: {item['why']}")


def _tables(record: RunRecord) -> Iterator[str]:
    for kernel in record.kernels:
        if kernel.fingerprint is None or not kernel.reachable or kernel.apart is not None:
            continue
        for slug, why in dict.fromkeys((item.slug, item.why) for item in kernel.unresolved):
            yield "[[suppress]]"
            yield f"kernel = {_text(kernel.name)}"
            yield f"fingerprint = {_text(kernel.fingerprint)}"
            yield f"rule = {_text(slug)}"
            yield f"text = {_text(why)}"
            yield 'reason = ""  # why this is right as it is; an empty reason is refused\n'


def _text(value: str) -> str:
    """A TOML string: JSON's are a part of them."""
    return json.dumps(value, ensure_ascii=False)
