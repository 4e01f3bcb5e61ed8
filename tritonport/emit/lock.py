"""OUT/tritonport.lock.json: what was made from what, by which tool and rules. The same input gives the same bytes."""

from __future__ import annotations

import hashlib
import json
import sys
from collections.abc import Iterable, Mapping, Sequence
from pathlib import Path
from typing import Any

from tritonport import __version__
from tritonport.engine.linemap import Origin
from tritonport.engine.rule import Rule
from tritonport.plugins import rule_packages
from tritonport.record import KernelRecord, RunRecord
from tritonport.resources import data_roots
from tritonport.sources.tree import digest_bytes

LOCK = "tritonport.lock.json"
LINES = "tritonport.lines.json"


def rules_digest() -> str:
    """One digest over rules/, the user's data folders, and the releases of installed rule packages.

    Data counts by its bytes, the built-in passes by the tool's version.
    """
    total = hashlib.sha256()
    for root in data_roots():
        for path in sorted(p for p in root.rglob("*") if p.is_file() and "__pycache__" not in p.parts):
            total.update(f"{path.relative_to(root).as_posix()}\0".encode())
            total.update(hashlib.sha256(path.read_bytes()).digest())
    for package in rule_packages():
        total.update(f"{package.release}\0".encode())
    return f"sha256:{total.hexdigest()}"


def code_digest() -> str:
    """One digest over the code that decides what is written, wherever the package is installed."""
    total = hashlib.sha256()
    package = Path(__file__).resolve().parents[1]
    for part in ("discover", "emit", "engine", "facts", "passes", "sources"):
        for path in sorted((package / part).rglob("*.py*")):
            if "__pycache__" not in path.parts:
                total.update(f"{path.relative_to(package).as_posix()}\0".encode())
                total.update(hashlib.sha256(path.read_bytes()).digest())
    return f"sha256:{total.hexdigest()}"


def rule_digests(rules: Iterable[Rule]) -> dict[str, str]:
    """Per rule the digest of the module that it is written in; helpers that rules share are in code_digest."""
    files = {rule.slug: sys.modules[type(rule).__module__].__file__ for rule in rules}
    return {slug: digest_bytes(Path(file).read_bytes()) for slug, file in sorted(files.items()) if file}


def lock_text(
    record: RunRecord, settings: Mapping[str, Any], files: Mapping[str, tuple[bytes, bytes]]
) -> str:
    """files: path in OUT -> (upstream bytes, output bytes)."""
    data = {
        "lock": "tritonport.lock/1",
        "tool": {"version": __version__, "rules_digest": rules_digest()},
        "source": record.source,
        "settings": dict(settings),
        "files": {
            path: {"source": digest_bytes(before), "output": digest_bytes(after)}
            for path, (before, after) in sorted(files.items())
        },
        "kernels": {
            kernel.name: {
                "outcome": kernel.outcome,
                "rules": {use.slug: use.count for use in kernel.rules},
                "unresolved": [f"{item.slug}: {item.why}" for item in kernel.unresolved],
                **({"suppressed": accepted} if (accepted := _accepted(kernel)) else {}),
            }
            for kernel in record.kernels
        },
    }
    return json.dumps(data, indent=2, sort_keys=True) + "\n"


def _accepted(kernel: KernelRecord) -> list[str]:
    return [f"{item.slug}: {item.why} ({item.reason})" for item in kernel.suppressed]


def lines_text(
    origins: Mapping[str, Sequence[Origin]], dropped: Mapping[str, Mapping[int, str]] | None = None
) -> str:
    """OUT/tritonport.lines.json: per file, for every line, upstream's line (null: upstream has none) and the rules.

    dropped: per file, upstream's lines that have none in the output, and the rule that took each away.
    """
    files = {path: [[o.line, list(o.rules)] for o in lines] for path, lines in sorted(origins.items())}
    gone = {path: lines for path, lines in sorted((dropped or {}).items()) if lines}
    return f'{{"lines": "tritonport.lines/1", "files": {_rows(files)}, "dropped": {_rows(gone)}}}\n'


def _rows(table: Mapping[str, Any]) -> str:
    rows = (
        f"{json.dumps(path)}: {json.dumps(lines, separators=(',', ':'))}" for path, lines in table.items()
    )
    return "{\n" + ",\n".join(rows) + "\n}"


def read_lines(out: Path) -> dict[str, tuple[Origin, ...]]:
    """The line map of an output folder; empty where it has none."""
    file = out / LINES
    if not file.is_file():
        return {}
    files: dict[str, list[tuple[int | None, list[str]]]] = json.loads(file.read_text(encoding="utf-8"))[
        "files"
    ]
    return {path: tuple(Origin(line, tuple(rules)) for line, rules in lines) for path, lines in files.items()}


def read_dropped(out: Path) -> dict[str, dict[int, str]]:
    """Per file, the upstream lines that a rule took away, and the rule."""
    file = out / LINES
    if not file.is_file():
        return {}
    files: dict[str, dict[str, str]] = json.loads(file.read_text(encoding="utf-8")).get("dropped", {})
    return {path: {int(line): slug for line, slug in lines.items()} for path, lines in files.items()}
