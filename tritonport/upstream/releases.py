"""Converts each newer release, one after the other, and compares it with the one before."""

from __future__ import annotations

import tempfile
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path

from tritonport.engine.gates import GateError
from tritonport.errors import UserError
from tritonport.migrate import MigrateOptions, migrate_tree
from tritonport.record import RunRecord
from tritonport.report.write import write_bytes
from tritonport.sources import resolve
from tritonport.sources.manifest import manifest_of
from tritonport.sources.wheel import fetch
from tritonport.upstream.compare import compare
from tritonport.upstream.report import ReleaseResult, UpstreamResult

Progress = Callable[[str, int, int], None]


@dataclass(frozen=True, slots=True)
class Line:
    """What is followed: the entry of one distribution, converted with the same options in every release."""

    distribution: str
    entry: str
    options: MigrateOptions
    offline: bool = False


def follow(line: Line, since: str, versions: tuple[str, ...], progress: Progress) -> UpstreamResult:
    """Compare each of the versions with its predecessor, starting from since.

    Raises UserError when since itself cannot be converted: then there is nothing to compare with.
    """
    known, record = since, _converted(line, since, progress) if versions else None
    results: list[ReleaseResult] = []
    for done, version in enumerate(versions):
        progress(f"{line.distribution} {version}", done, len(versions))
        try:
            after = _converted(line, version, progress)
        except (UserError, GateError) as error:
            results.append(ReleaseResult(version, known, failed=str(error)))
            continue
        assert record is not None
        changes = compare(record, after)
        results.append(ReleaseResult(version, known, changes, None, *_wheel(line, version)))
        known, record = version, after
    return UpstreamResult(line.distribution, line.entry, since, tuple(results))


def _converted(line: Line, version: str, progress: Progress) -> RunRecord:
    tree = resolve(
        line.entry, from_spec=f"{line.distribution}=={version}", offline=line.offline, progress=progress
    )
    with tempfile.TemporaryDirectory(prefix="tritonport-upstream-") as folder:
        return migrate_tree(tree, Path(folder) / "out", line.options, progress).record


def _wheel(line: Line, version: str) -> tuple[str, str, tuple[str, ...]]:
    """File name and digest of the wheel that was just fetched, and a note where nobody listed the digest."""
    wheel = fetch(line.distribution, version, None, offline=True)
    file = next(iter(sorted(wheel.tree.parent.glob("*.whl")))).name
    manifest = manifest_of(line.distribution)
    listed = manifest is not None and manifest.release(version) is not None
    notes = () if listed else (f"{version} is not listed in the manifest: its digest was not checked",)
    return file, wheel.sha256, notes


def add_to_manifest(result: UpstreamResult, path: Path) -> tuple[str, ...]:
    """Append the releases that were converted and that the manifest does not list. Returns their versions."""
    text = path.read_text(encoding="utf-8")
    added = [r for r in result.releases if r.sha256 and f'version = "{r.version}"' not in text]
    tables = (
        f'\n[[release]]\nversion = "{r.version}"\nfile = "{r.wheel}"\nsha256 = "{r.sha256}"\n' for r in added
    )
    write_bytes(path, (text.rstrip("\n") + "\n" + "".join(tables)).encode())
    return tuple(release.version for release in added)
