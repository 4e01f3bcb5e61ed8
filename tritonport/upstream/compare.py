"""What one release changes for each kernel, from the records of two migrations by the same tool and settings."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, Literal

from tritonport.record import KernelRecord, RunRecord

Status = Literal[
    "newly-unresolved", "still-unresolved", "new", "changed", "resolved", "moved", "gone", "unchanged"
]
STATUSES: dict[Status, str] = {
    "newly-unresolved": "newly unresolved",
    "still-unresolved": "unresolved before and now",
    "new": "new and converted",
    "changed": "changed and still converted",
    "resolved": "unresolved before, converted now",
    "moved": "moved, otherwise unchanged",
    "gone": "gone",
    "unchanged": "unchanged",
}
"""In the order in which a reader wants them."""


@dataclass(frozen=True, slots=True)
class KernelChange:
    """One kernel. was: its name before, where it moved. why: what changed, or what is unresolved."""

    name: str
    status: Status
    why: tuple[str, ...] = ()
    was: str | None = None

    def to_json(self) -> dict[str, Any]:
        return {"name": self.name, "status": self.status, "why": list(self.why), "was": self.was}


def compare(before: RunRecord, after: RunRecord) -> tuple[KernelChange, ...]:
    """Every kernel of either release that counts, those first that somebody has to look at."""
    old, new = _counted(before), _counted(after)
    moved = _moved(old, new)
    changes = [_change(name, old.get(moved.get(name, name)), kernel, moved) for name, kernel in new.items()]
    changes += [KernelChange(name, "gone") for name in old if name not in new and name not in moved.values()]
    order = list(STATUSES)
    return tuple(sorted(changes, key=lambda c: (order.index(c.status), c.name)))


def _counted(record: RunRecord) -> dict[str, KernelRecord]:
    return {k.name: k for k in record.kernels if k.reachable and k.apart is None}


def _moved(old: Mapping[str, KernelRecord], new: Mapping[str, KernelRecord]) -> dict[str, str]:
    """New name -> old name, for kernels with the same source under another name, where that is unambiguous."""
    gone = [k for k in old.values() if k.name not in new and k.fingerprint is not None]
    found: dict[str, str] = {}
    for kernel in new.values():
        if kernel.name not in old:
            same = [k.name for k in gone if k.fingerprint == kernel.fingerprint]
            if len(same) == 1 and same[0] not in found.values():
                found[kernel.name] = same[0]
    return found


def _change(
    name: str, before: KernelRecord | None, after: KernelRecord, moved: Mapping[str, str]
) -> KernelChange:
    was = moved.get(name)
    if after.outcome != "converted":
        why = tuple(f"{item.slug} {item.file}:{item.line}: {item.why}" for item in after.unresolved)
        still = before is not None and before.outcome != "converted"
        return KernelChange(
            name, "still-unresolved" if still else "newly-unresolved", why or (after.outcome,), was
        )
    if before is None:
        return KernelChange(name, "new")
    if before.outcome != "converted":
        return KernelChange(name, "resolved", was=was)
    why = tuple(_differences(before, after))
    return KernelChange(name, "changed" if why else "moved" if was else "unchanged", why, was)


def _differences(before: KernelRecord, after: KernelRecord) -> list[str]:
    found: list[str] = []
    if before.fingerprint != after.fingerprint:
        found.append("its source")
    if before.grid_before != after.grid_before:
        found.append(f"its grid: {before.grid_before} -> {after.grid_before}")
    old, new = ({use.slug: use.count for use in kernel.rules} for kernel in (before, after))
    rules = [
        f"{s} {old.get(s, 0)} -> {new.get(s, 0)}" for s in sorted({*old, *new}) if old.get(s) != new.get(s)
    ]
    if rules:
        found.append(f"rewrites: {', '.join(rules)}")
    return found
