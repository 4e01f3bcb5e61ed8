"""The record of one run, as run.json has it (schema: tritonport/report/run.schema.json)."""

from __future__ import annotations

from dataclasses import asdict, dataclass, field
from typing import Any, Literal

Outcome = Literal["converted", "needs-review", "not-converted"]
TierResult = Literal["pass", "fail", "not-run"]
RuleClass = Literal["exact", "reordered", "assumed", "manual"]

CLASSES: tuple[RuleClass, ...] = ("exact", "reordered", "assumed", "manual")
"""From the strongest promise to none."""


def weakest(*classes: RuleClass) -> RuleClass:
    """The class of a whole whose parts have these classes."""
    return max(classes, key=CLASSES.index)


TIERS: tuple[str, ...] = ("parse", "interpret", "hazard", "gpu", "npu-compile", "npu-run")
SCHEMA = "tritonport.run/1"


@dataclass(frozen=True, slots=True)
class RuleUse:
    """How often one rule rewrote something in a kernel or in the host code around it."""

    slug: str
    rule_class: RuleClass
    count: int

    def to_json(self) -> dict[str, Any]:
        return {"slug": self.slug, "class": self.rule_class, "count": self.count}


@dataclass(frozen=True, slots=True)
class Unresolved:
    """A place that a rule looked at and could not decide. file and line are upstream's."""

    slug: str
    file: str
    line: int
    why: str


@dataclass(frozen=True, slots=True)
class Suppressed:
    """A finding that somebody looked at and accepted: an Unresolved with the reason and where it is written down."""

    slug: str
    file: str
    line: int
    why: str
    reason: str
    by: str


@dataclass(frozen=True, slots=True)
class Assumption:
    """What an assumed rule takes for granted in a kernel. text: in words.

    guard: a Python expression over parameters of the function that launches the kernel, true where it holds; None where
    the emitted code checks it by itself.
    """

    slug: str
    text: str
    guard: str | None = None


@dataclass(frozen=True, slots=True)
class KernelRecord:
    """One kernel's line in the report. name is `module:kernel`; file is relative to the source root."""

    name: str
    file: str
    line: int
    outcome: Outcome
    rules: tuple[RuleUse, ...] = ()
    unresolved: tuple[Unresolved, ...] = ()
    grid_before: str | None = None
    grid_after: str | None = None
    tiers: dict[str, TierResult] = field(default_factory=lambda: dict.fromkeys(TIERS, "not-run"))
    npu: list[dict[str, Any]] | None = None
    reachable: bool = True
    apart: str | None = None
    """Why this kernel does not count for the exit status (a context-parallel kernel), or None."""
    notes: tuple[str, ...] = ()
    suppressed: tuple[Suppressed, ...] = ()
    assumptions: tuple[Assumption, ...] = ()
    fingerprint: str | None = None
    """Of its normalized source and that of the jit functions it calls (tritonport.facts.fingerprint)."""

    def to_json(self) -> dict[str, Any]:
        data = asdict(self)
        data["rules"] = [use.to_json() for use in self.rules]
        data["unresolved"] = [asdict(item) for item in self.unresolved]
        data["assumptions"] = [asdict(item) for item in self.assumptions]
        data["suppressed"] = [asdict(item) for item in self.suppressed]
        data["notes"] = list(self.notes)
        data["grid"] = {"before": data.pop("grid_before"), "after": data.pop("grid_after")}
        return data


@dataclass(frozen=True, slots=True)
class RunRecord:
    """One run of migrate or verify."""

    tool: dict[str, str]
    source: dict[str, str | None]
    target: str
    profile: str
    kernels: tuple[KernelRecord, ...]
    seconds: float
    extra: dict[str, Any] = field(default_factory=dict)
    """Further top-level members that a later step adds (cases of verification, notes)."""

    def to_json(self) -> dict[str, Any]:
        return {
            "schema": SCHEMA,
            "tool": self.tool,
            "source": self.source,
            "target": self.target,
            "profile": self.profile,
            "kernels": [kernel.to_json() for kernel in self.kernels],
            "summary": {**self.counts(), "seconds": round(self.seconds, 3)},
            **self.extra,
        }

    def counts(self) -> dict[str, int]:
        """How many of the kernels that count ended how."""
        counted = [k for k in self.kernels if k.reachable and k.apart is None]
        return {
            "kernels": len(counted),
            "converted": sum(k.outcome == "converted" for k in counted),
            "needs_review": sum(k.outcome == "needs-review" for k in counted),
            "not_converted": sum(k.outcome == "not-converted" for k in counted),
        }
