"""The contract between a rule and the engine.

A rule reads one frozen tree and says, for every place it looks at, one of: rewrite it (an Edit), cannot decide
(an Unresolved, with the sub-expression that stopped it), or not applicable (with the reason). The engine applies the
edits of one rule at a time, prints the module, and attributes the lines that changed to that rule.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Protocol, runtime_checkable

import libcst as cst

from tritonport.record import RuleClass

if TYPE_CHECKING:
    from tritonport.engine.context import FileContext

Replacement = cst.CSTNode | cst.FlattenSentinel[cst.CSTNode] | cst.RemovalSentinel
Build = Callable[[cst.CSTNode], "Replacement"]


@dataclass(frozen=True)
class Edit:
    """Replace node by build(updated node); nested edits compose, since build receives the updated node.

    kernel: name of the kernel that this edit belongs to, None for host code of the file.
    """

    node: cst.CSTNode
    build: Build
    kernel: str | None = None
    counts: bool = True
    """False for an edit that only goes along with another one (an import, a second half)."""
    rule_class: RuleClass | None = None
    """The class of this edit where it is not the rule's (an edit that is exact of a rule that may reorder)."""


@dataclass(frozen=True)
class Finding:
    """A candidate that was not rewritten. why names what stopped the rule; resolved=True means not applicable."""

    node: cst.CSTNode
    why: str
    kernel: str | None = None
    applicable: bool = True


@dataclass
class RuleResult:
    """All that a rule says about one file."""

    edits: list[Edit] = field(default_factory=list[Edit])
    findings: list[Finding] = field(default_factory=list[Finding])
    notes: list[tuple[str, str]] = field(default_factory=list[tuple[str, str]])
    """(kernel, text): what a reader of the report should know of a decision."""
    assumptions: list[tuple[str, str, str | None]] = field(default_factory=list[tuple[str, str, str | None]])
    """(kernel, text, guard): what assumed rewrites take for granted."""

    def rewrite(
        self,
        node: cst.CSTNode,
        build: Build,
        *,
        kernel: str | None = None,
        counts: bool = True,
        rule_class: RuleClass | None = None,
    ) -> None:
        self.edits.append(Edit(node, build, kernel, counts, rule_class))

    def note(self, kernel: str, text: str) -> None:
        self.notes.append((kernel, text))

    def assume(self, kernel: str, text: str, guard: str | None = None) -> None:
        """State what an assumed rewrite takes for granted; see record.Assumption."""
        self.assumptions.append((kernel, text, guard))

    def unresolved(self, node: cst.CSTNode, why: str, *, kernel: str | None = None) -> None:
        self.findings.append(Finding(node, why, kernel))

    def not_applicable(self, node: cst.CSTNode, why: str, *, kernel: str | None = None) -> None:
        self.findings.append(Finding(node, why, kernel, applicable=False))


@runtime_checkable
class Rule(Protocol):
    """One small class per file in passes/. slug and rule_class are those of rules/catalog/<slug>/rule.toml."""

    slug: str
    rule_class: RuleClass

    def run(self, file: FileContext) -> RuleResult:
        """Read the file's tree and facts; never change them."""
        ...


def rule_slugs(rules: Iterable[Rule]) -> tuple[str, ...]:
    return tuple(rule.slug for rule in rules)
