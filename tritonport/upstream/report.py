"""The result of `tritonport upstream` as text, Markdown and JSON."""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from typing import Any

from tritonport.upstream.compare import STATUSES, KernelChange

QUIET = ("unchanged",)
"""Counted, not listed."""


@dataclass(frozen=True, slots=True)
class ReleaseResult:
    """One release. before: the release it is compared with. failed: why it cannot be converted at all.

    wheel, sha256: the file on the index and its digest, empty when it could not be fetched.
    notes: what the user should know (a digest that nobody listed).
    """

    version: str
    before: str
    changes: tuple[KernelChange, ...] = ()
    failed: str | None = None
    wheel: str = ""
    sha256: str = ""
    notes: tuple[str, ...] = ()

    @property
    def needs_a_look(self) -> bool:
        return self.failed is not None or any(c.status == "newly-unresolved" for c in self.changes)

    def to_json(self) -> dict[str, Any]:
        return {
            "version": self.version,
            "before": self.before,
            "wheel": self.wheel,
            "sha256": self.sha256,
            "failed": self.failed,
            "counts": counts(self.changes),
            "kernels": [change.to_json() for change in self.changes],
            "notes": list(self.notes),
        }


@dataclass(frozen=True, slots=True)
class UpstreamResult:
    """distribution, entry: what was looked at. since: the release that is known. releases: the newer ones."""

    distribution: str
    entry: str
    since: str
    releases: tuple[ReleaseResult, ...]


def counts(changes: Sequence[KernelChange]) -> dict[str, int]:
    """How many kernels have each status; only those that occur."""
    found = Counter(change.status for change in changes)
    return {status: found[status] for status in STATUSES if found[status]}


def as_json(result: UpstreamResult) -> str:
    data = {
        "schema": "tritonport.upstream/1",
        "distribution": result.distribution,
        "entry": result.entry,
        "since": result.since,
        "releases": [release.to_json() for release in result.releases],
    }
    return json.dumps(data, indent=2, ensure_ascii=False) + "\n"


def as_text(result: UpstreamResult) -> str:
    return "".join(f"{line}\n" for line in _text(result))


def _text(result: UpstreamResult) -> Iterator[str]:
    if not result.releases:
        yield f"{result.distribution}: no release after {result.since}"
    for release in result.releases:
        yield f"{result.distribution} {release.before} -> {release.version}: {_summary(release)}"
        for change in release.changes:
            if change.status not in QUIET:
                moved = f" (was {change.was})" if change.was else ""
                yield f"  {change.status:<17} {change.name}{moved}"
                yield from (f"      {why}" for why in change.why)


def _summary(release: ReleaseResult) -> str:
    if release.failed is not None:
        return f"cannot be converted: {release.failed}"
    return ", ".join(f"{n} {STATUSES[s]}" for s, n in counts(release.changes).items()) or "no kernels"  # type: ignore[index]


def as_markdown(result: UpstreamResult) -> str:
    """For a job summary or the body of a pull request."""
    return "\n".join(_markdown(result)) + "\n"


def _markdown(result: UpstreamResult) -> Iterator[str]:
    yield f"# {result.distribution}: releases after {result.since}"
    yield ""
    yield f"Entry `{result.entry}`, each release against the one before it, by the same tool and settings."
    if not result.releases:
        yield f"\nThere is no release after {result.since}."
    for release in result.releases:
        yield from ("", f"## {release.before} → {release.version}", "", f"{_summary(release)}.")
        if release.sha256:
            yield from ("", f"`{release.wheel}`, sha256 `{release.sha256}`")
        listed = [change for change in release.changes if change.status not in QUIET]
        if listed:
            yield from ("", "| kernel | what | why |", "|---|---|---|")
            yield from (
                f"| `{_cell(_name(c))}` | {STATUSES[c.status]} | {_cell('; '.join(c.why))} |" for c in listed
            )


def _name(change: KernelChange) -> str:
    return f"{change.was} → {change.name}" if change.was else change.name


def _cell(text: str) -> str:
    return text.replace("|", "\\|").replace("\n", " ")


FORMATS: dict[str, Callable[[UpstreamResult], str]] = {
    "text": as_text,
    "json": as_json,
    "markdown": as_markdown,
}
