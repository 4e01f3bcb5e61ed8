"""`tritonport overrides SRC`: suppressions to fill in, for every finding that nobody has accepted yet."""

from __future__ import annotations

import json
import tempfile
from collections.abc import Iterator
from pathlib import Path

from tritonport.cli import options as opt
from tritonport.cli.console import note, progress_bar, stdout
from tritonport.config import load
from tritonport.migrate import migrate_tree
from tritonport.record import RunRecord
from tritonport.sources import resolve


def overrides(
    src: opt.Source,
    from_spec: opt.FromSpec = None,
    target: opt.Target = None,
    profile: opt.Profile = None,
    offline: opt.Offline = False,
    quiet: opt.Quiet = False,
) -> None:
    """Print a [[suppress]] table for each open finding, to keep in an override file once the reason is filled in.

    Entries that need a look (stale, expired, unused) are named on stderr. Writes nothing.
    """
    options = opt.Asked(target, profile).options(load(Path.cwd()), "tritonport overrides")
    with progress_bar(quiet=quiet) as show, tempfile.TemporaryDirectory(prefix="tritonport-") as folder:
        tree = resolve(src, from_spec=from_spec, offline=offline, progress=show)
        record = migrate_tree(tree, Path(folder) / "out", options, show).record
    stdout().out("\n".join(_tables(record)), end="", highlight=False)
    for item in record.extra.get("overrides", ()):
        if item["state"] != "applied":
            note(
                f"{item['state']}: {item['kind']} of {item['kernel']} in {item['file']}: {item['why']}",
                quiet=quiet,
            )


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
