"""Why the hunks of a run are not those of an earlier one: upstream changed, a rule changed, or the configuration."""

from __future__ import annotations

import hashlib
import json
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Literal

Kind = Literal["upstream", "rule", "configuration"]
Run = Mapping[str, Any]
"""A parsed run.json."""
HunkData = Mapping[str, Any]
Placed = tuple[str, HunkData]
"""A hunk with the path of its file."""
_Functions = dict[tuple[str, str], list[HunkData]]


@dataclass(frozen=True, slots=True)
class Cause:
    """kind: what changed. why: which part of it, in a few words."""

    kind: Kind
    why: str


@dataclass(frozen=True, slots=True)
class Gone:
    """Hunks of one function of the earlier run that this one does not make, for the same causes."""

    path: str
    function: str
    causes: tuple[Cause, ...]
    count: int


@dataclass(frozen=True)
class Since:
    """changed: fingerprint of each hunk that the earlier run did not have -> causes, the surest first.

    moved: fingerprint of each hunk that the earlier run had in another file -> that file. same: how many hunks both
    runs have, moved or not. gone: hunks that only the earlier run has.
    """

    release: str
    changed: Mapping[str, tuple[Cause, ...]]
    moved: Mapping[str, str]
    same: int
    gone: tuple[Gone, ...]

    @property
    def lost(self) -> int:
        """How many hunks are gone."""
        return sum(gone.count for gone in self.gone)


def compare(new: Run, old: Run) -> Since:
    """Attribute every difference between the hunks of two runs. Both must have `changes`."""
    theirs = {hunk["fingerprint"] for _, hunk in hunks(old)}
    ours = {hunk["fingerprint"] for _, hunk in hunks(new)}
    added = [(path, hunk) for path, hunk in hunks(new) if hunk["fingerprint"] not in theirs]
    left = [(path, hunk) for path, hunk in hunks(old) if hunk["fingerprint"] not in ours]
    moved = _moved(added, left)
    causes = _Causes(new, old)
    changed = {
        hunk["fingerprint"]: causes.of(path, hunk, causes.before)
        for path, hunk in added
        if hunk["fingerprint"] not in moved
    }
    followed = {mark for _, mark in moved.values()}
    gone = Counter(
        (path, hunk["function"], causes.of(path, hunk, causes.now))
        for path, hunk in left
        if hunk["fingerprint"] not in followed
    )
    where = tuple(Gone(*key, count) for key, count in gone.items())
    files = {mark: path for mark, (path, _) in moved.items()}
    return Since(release_of(old), changed, files, len(ours & theirs) + len(moved), where)


def _moved(added: Sequence[Placed], left: Sequence[Placed]) -> dict[str, tuple[str, str]]:
    """Hunks that stand in another file now: fingerprint -> the earlier file and fingerprint."""
    places: dict[str, list[tuple[str, str]]] = {}
    for path, hunk in left:
        places.setdefault(content(hunk), []).append((path, hunk["fingerprint"]))
    moved: dict[str, tuple[str, str]] = {}
    for path, hunk in added:
        known = places.get(content(hunk), [])
        place = next((place for place in known if place[0] != path), None)
        if place is not None:
            known.remove(place)
            moved[hunk["fingerprint"]] = place
    return moved


def content(hunk: HunkData) -> str:
    """What a hunk is wherever its file stands: a digest of the function's name and the lines that rules changed."""
    lines = [line[:2] for line in hunk["lines"] if len(line) > 2 and line[2]]
    return hashlib.sha256(json.dumps([hunk["function"], lines]).encode()).hexdigest()[:32]


def hunks(run: Run) -> Iterator[tuple[str, HunkData]]:
    """Every hunk of a run with the path of its file."""
    for file in run["changes"]["files"]:
        for hunk in file["hunks"]:
            yield file["path"], hunk


def hunk_rules(hunk: HunkData) -> frozenset[str]:
    """The rules that wrote lines of a hunk."""
    return frozenset(slug for line in hunk["lines"] for slug in (line[2] if len(line) > 2 else ()))


def release_of(run: Run) -> str:
    """`fla-core 0.6.0`, or the entry and the start of the digest of sources on disk."""
    source = run["source"]
    if source["distribution"] and source["version"]:
        return f"{source['distribution']} {source['version']}"
    return f"{source['entry']} ({source['digest'].removeprefix('sha256:')[:12]})"


class _Causes:
    """What two runs differ in, asked hunk by hunk. before, now: the hunks of each run by file and function."""

    def __init__(self, new: Run, old: Run) -> None:
        self.new, self.old = new, old
        self.now, self.before = _by_function(new), _by_function(old)

    def of(self, path: str, hunk: HunkData, others: _Functions) -> tuple[Cause, ...]:
        """Causes that touch this hunk itself; where there is none, what changed anywhere. others: of the other run."""
        key = (path, hunk["function"])
        own = [*self.now.get(key, ()), *self.before.get(key, ())]
        rules = frozenset[str]().union(*(hunk_rules(h) for h in own))
        direct = [
            *_upstream(self.new, self.old, path, hunk, others.get(key, ())),
            *_configuration(self.new, self.old, rules),
            *_rules(self.new, self.old, rules),
        ]
        return tuple(direct) or tuple(_anywhere(self.new, self.old))


def _by_function(run: Run) -> _Functions:
    found: _Functions = {}
    for path, hunk in hunks(run):
        found.setdefault((path, hunk["function"]), []).append(hunk)
    return found


def _upstream(new: Run, old: Run, path: str, hunk: HunkData, others: Sequence[HunkData]) -> Iterator[Cause]:
    was, now = (run["changes"]["sources"].get(path) for run in (old, new))
    if was == now:
        return
    if was is None or now is None:
        yield Cause("upstream", "the file is new" if was is None else "the file is gone")
    elif not others:
        yield Cause("upstream", "its file changed")
    elif all(other["upstream"] != hunk["upstream"] for other in others):
        yield Cause(
            "upstream", "these lines changed" if hunk["function"] == "<module>" else "its function changed"
        )


def _configuration(new: Run, old: Run, rules: frozenset[str]) -> Iterator[Cause]:
    was, now = old["settings"], new["settings"]
    for name in ("target", "schedule"):
        if was[name] != now[name]:
            yield Cause("configuration", f"{name} {was[name]}, now {now[name]}")
    for name, what in (("tuning", "the tuning file"), ("overrides", "the overrides")):
        if was.get(name) != now.get(name):
            yield Cause("configuration", f"{what} changed")
    turned = _turned(was, now) & rules
    if turned and not _by_the_tool(new, old):
        profiles = (
            "" if was["profile"] == now["profile"] else f"profile {was['profile']}, now {now['profile']}: "
        )
        yield Cause("configuration", f"{profiles}{', '.join(sorted(turned))} on or off")


def _rules(new: Run, old: Run, rules: frozenset[str]) -> Iterator[Cause]:
    turned = _turned(old["settings"], new["settings"]) & rules
    if turned and _by_the_tool(new, old):
        yield Cause("rule", f"the profile now turns {', '.join(sorted(turned))} on or off")
    was, now = old["changes"]["rules"], new["changes"]["rules"]
    other = sorted(slug for slug in rules if slug in was and slug in now and was[slug] != now[slug])
    if other:
        yield Cause("rule", f"{', '.join(other)} changed")


def _turned(was: Mapping[str, Any], now: Mapping[str, Any]) -> frozenset[str]:
    """Rules that ran in one of the two runs alone."""
    return frozenset(was["rules"] or ()) ^ frozenset(now["rules"] or ())


def _by_the_tool(new: Run, old: Run) -> bool:
    """The same profile with other rules in it, in other rule data: the tool's doing, not the user's."""
    same = old["settings"]["profile"] == new["settings"]["profile"]
    return same and old["tool"]["rules_digest"] != new["tool"]["rules_digest"]


def _anywhere(new: Run, old: Run) -> Iterator[Cause]:
    if old["settings"] != new["settings"] and not _by_the_tool(new, old):
        yield Cause("configuration", "the order of the rules, or other rules")
    if old["changes"]["code"] != new["changes"]["code"]:
        was, now = old["tool"]["version"], new["tool"]["version"]
        versions = f" ({was}, now {now})" if was != now else ""
        yield Cause("rule", f"the tool's code changed{versions}")
    if old["tool"]["rules_digest"] != new["tool"]["rules_digest"]:
        yield Cause("rule", "the tool's rule data changed")
    if old["source"]["digest"] != new["source"]["digest"]:
        yield Cause("upstream", "elsewhere in the sources")
