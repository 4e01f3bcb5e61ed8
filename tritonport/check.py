"""The drift gate: would migrate write exactly what an output folder holds, and if not, why not.

The sources are migrated again into a temporary folder, and every file is compared by its bytes. The reasons come from
the two lock files: what made OUT, and what would make it now.
"""

from __future__ import annotations

import difflib
import json
import tempfile
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Literal

from tritonport.emit.lock import LOCK
from tritonport.errors import UserError
from tritonport.lines import split_lines
from tritonport.migrate import MigrateOptions, migrate_tree
from tritonport.sources.tree import SourceTree, digest_bytes

State = Literal["changed", "missing", "extra"]
Progress = Callable[[str, int, int], None]
HAND = "hand edit"
SAME_VERSION = "tool: the same version number, but other code (or the lock was edited as well)"


@dataclass(frozen=True, slots=True)
class Difference:
    """One file that is not what migrate would write.

    path: relative to OUT. state: changed, missing in OUT, or extra in OUT. why: reasons, never empty.
    diff: unified, from OUT to what migrate would write; empty for a binary file.
    """

    path: str
    state: State
    why: tuple[str, ...]
    diff: str

    def to_json(self) -> dict[str, Any]:
        return {"path": self.path, "state": self.state, "why": list(self.why), "diff": self.diff}


@dataclass(frozen=True, slots=True)
class CheckResult:
    """What differs. causes: what changed since OUT was made. kept: files of OUT that are no part of the comparison."""

    differences: tuple[Difference, ...]
    causes: tuple[str, ...]
    kept: tuple[str, ...]

    def to_json(self) -> dict[str, Any]:
        """The result of `tritonport check --format json`."""
        return {
            "schema": "tritonport.check/1",
            "same": not self.differences,
            "causes": list(self.causes),
            "files": [item.to_json() for item in self.differences],
            "kept": list(self.kept),
        }


def read_lock(out: Path) -> dict[str, Any]:
    """The lock file of an output folder. Raises UserError for a folder that migrate did not make."""
    path = out / LOCK
    if not path.is_file():
        raise UserError(f"{out} was not made by tritonport migrate: {LOCK} is missing")
    try:
        lock = json.loads(path.read_text(encoding="utf-8"))
        _ = [item["output"] + item["source"] for item in lock["files"].values()]
        _ = (
            lock["tool"]["version"],
            lock["tool"]["rules_digest"],
            lock["settings"]["target"],
            lock["source"]["entry"],
        )
    except (ValueError, KeyError, TypeError, AttributeError) as error:
        raise UserError("not a lock file of tritonport", "run migrate again", file=str(path)) from error
    return lock


def check_output(tree: SourceTree, out: Path, options: MigrateOptions, progress: Progress) -> CheckResult:
    """Compare OUT with what migrating the tree with these options gives now."""
    before = read_lock(out)
    with tempfile.TemporaryDirectory(prefix="tritonport-check-") as folder:
        fresh = Path(folder) / "out"
        migrate_tree(tree, fresh, options, progress)
        return compare(before, _contents(out), read_lock(fresh), _contents(fresh))


def compare(
    before: Mapping[str, Any], old: Mapping[str, bytes], after: Mapping[str, Any], new: Mapping[str, bytes]
) -> CheckResult:
    """before, old: the lock and the files of OUT. after, new: those that migrate would write."""
    causes = causes_of(before, after)
    differ = sorted(path for path in {*old, *new} if old.get(path) != new.get(path))
    kept = [
        path
        for path in differ
        if path not in new and path not in before["files"] and not path.endswith(".py")
    ]
    shown = [path for path in differ if path not in kept]
    if not causes and any(_made_otherwise(path, before, old, new) for path in shown):
        causes = (SAME_VERSION,)
    differences = tuple(
        Difference(path, _state(path, old, new), _why(path, before, old, new, causes), _diff(path, old, new))
        for path in shown
    )
    return CheckResult(differences, causes, tuple(kept))


def causes_of(before: Mapping[str, Any], after: Mapping[str, Any]) -> tuple[str, ...]:
    """What changed between two lock files: tool, rules, upstream, configuration."""
    found: list[str] = []
    if before["tool"]["version"] != after["tool"]["version"]:
        found.append(f"tool: tritonport {before['tool']['version']} -> {after['tool']['version']}")
    if before["tool"]["rules_digest"] != after["tool"]["rules_digest"]:
        found.append("rules: the rules' data changed (rules digest)")
    found += _upstream(before, after)
    old, new = before["settings"], after["settings"]
    found += [
        _setting(key, old.get(key), new.get(key))
        for key in sorted({*old, *new})
        if old.get(key) != new.get(key)
    ]
    return tuple(found)


def _upstream(before: Mapping[str, Any], after: Mapping[str, Any]) -> list[str]:
    old, new = before["source"], after["source"]
    if old["digest"] == new["digest"] and old["entry"] == new["entry"]:
        return []
    names = [
        " ".join(str(s[k]) for k in ("distribution", "version") if s.get(k)) or str(s["entry"])
        for s in (old, new)
    ]
    if names[0] != names[1]:
        return [f"upstream: {names[0]} -> {names[1]}"]
    changed = sorted(
        path
        for path in {*before["files"], *after["files"]}
        if before["files"].get(path, {}).get("source") != after["files"].get(path, {}).get("source")
    )
    return [f"upstream: {', '.join(changed) or 'a file that the kernels import'} changed"]


def _setting(key: str, old: Any, new: Any) -> str:
    if isinstance(old, list) and isinstance(new, list):
        gone, more = [x for x in old if x not in new], [x for x in new if x not in old]
        parts = [*(f"+{item}" for item in more), *(f"-{item}" for item in gone)]
        return f"configuration: {key} {' '.join(parts) or 'in another order'}"
    return f"configuration: {key} {old} -> {new}"


def _state(path: str, old: Mapping[str, bytes], new: Mapping[str, bytes]) -> State:
    return "missing" if path not in old else "extra" if path not in new else "changed"


def _recorded(path: str, before: Mapping[str, Any]) -> str | None:
    entry = before["files"].get(path)
    return None if entry is None else str(entry["output"])


def _edited(path: str, before: Mapping[str, Any], old: Mapping[str, bytes]) -> bool:
    """Whether a file whose digest the lock has is not as it was written."""
    recorded = _recorded(path, before)
    return recorded is not None and (path not in old or digest_bytes(old[path]) != recorded)


def _made_otherwise(
    path: str, before: Mapping[str, Any], old: Mapping[str, bytes], new: Mapping[str, bytes]
) -> bool:
    """Whether migrate itself would write another file than it did when it made OUT."""
    recorded = _recorded(path, before)
    return recorded is not None and (path not in new or digest_bytes(new[path]) != recorded)


def _why(
    path: str,
    before: Mapping[str, Any],
    old: Mapping[str, bytes],
    new: Mapping[str, bytes],
    causes: tuple[str, ...],
) -> tuple[str, ...]:
    hand = _edited(path, before, old)
    made = _made_otherwise(path, before, old, new)
    if _recorded(path, before) is None:
        # Not in the lock: the lock itself and what stands beside it, or a file that nobody made.
        hand = path not in new or not causes
        made = not hand
    return (*([HAND] if hand else []), *(causes if made else ()))


def _contents(folder: Path) -> dict[str, bytes]:
    files = (p for p in folder.rglob("*") if p.is_file() and "__pycache__" not in p.parts)
    return {p.relative_to(folder).as_posix(): p.read_bytes() for p in files}


def _diff(path: str, old: Mapping[str, bytes], new: Mapping[str, bytes]) -> str:
    try:
        was, now = (split_lines(side.get(path, b"").decode("utf-8")) for side in (old, new))
    except UnicodeDecodeError:
        return ""
    lines = difflib.unified_diff(was, now, f"OUT/{path}", f"migrate/{path}")
    return "".join(
        line if line.endswith("\n") else f"{line}\n\\ No newline at end of file\n" for line in lines
    )
