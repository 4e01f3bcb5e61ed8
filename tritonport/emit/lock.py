"""OUT/tritonport.lock.json: what was made from what, by which tool and rules. The same input gives the same bytes."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

from tritonport import __version__
from tritonport.engine.linemap import Origin
from tritonport.record import RunRecord
from tritonport.resources import rules_root
from tritonport.sources.tree import digest_bytes

LOCK = "tritonport.lock.json"
LINES = "tritonport.lines.json"


def rules_digest() -> str:
    """One digest over all of rules/ and the code of the passes is the tool's version; data counts by its bytes."""
    total = hashlib.sha256()
    root = rules_root()
    for path in sorted(p for p in root.rglob("*") if p.is_file() and "__pycache__" not in p.parts):
        total.update(f"{path.relative_to(root).as_posix()}\0".encode())
        total.update(hashlib.sha256(path.read_bytes()).digest())
    return f"sha256:{total.hexdigest()}"


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
            }
            for kernel in record.kernels
        },
    }
    return json.dumps(data, indent=2, sort_keys=True) + "\n"


def lines_text(origins: Mapping[str, Sequence[Origin]]) -> str:
    """OUT/tritonport.lines.json: per file, for every line, upstream's line (null: upstream has none) and the rules."""
    files = {path: [[o.line, list(o.rules)] for o in lines] for path, lines in sorted(origins.items())}
    rows = (
        f"{json.dumps(path)}: {json.dumps(lines, separators=(',', ':'))}" for path, lines in files.items()
    )
    return '{"lines": "tritonport.lines/1", "files": {\n' + ",\n".join(rows) + "\n}}\n"


def read_lines(out: Path) -> dict[str, tuple[Origin, ...]]:
    """The line map of an output folder; empty where it has none."""
    file = out / LINES
    if not file.is_file():
        return {}
    files: dict[str, list[tuple[int | None, list[str]]]] = json.loads(file.read_text(encoding="utf-8"))[
        "files"
    ]
    return {path: tuple(Origin(line, tuple(rules)) for line, rules in lines) for path, lines in files.items()}
