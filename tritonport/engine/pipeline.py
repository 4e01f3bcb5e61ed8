"""Runs the active rules over one file, one after the other, and keeps account of what they did."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass, field

import libcst as cst

from tritonport.discover import Analysis
from tritonport.discover.parse import ParsedModule
from tritonport.engine.apply import apply_edits
from tritonport.engine.choices import without
from tritonport.engine.context import FileContext, Memo, Settings
from tritonport.engine.gates import check_output
from tritonport.engine.linemap import Origin, advance, dropped, identity, still_dropped
from tritonport.engine.rule import Rule, RuleResult
from tritonport.facts.hosts.overlap import LaunchMemory
from tritonport.facts.programs import Programs
from tritonport.record import Assumption, RuleClass, Unresolved, weakest


@dataclass(frozen=True)
class FileResult:
    """What became of one file.

    text: the output, equal to upstream's where no rule fired. origins: one per output line.
    counts: (kernel or None, slug) -> rewrites. unresolved: (kernel or None, item).
    dropped: upstream lines without a line in the output, and the rule that took each away.
    """

    module: str
    text: str
    origins: tuple[Origin, ...]
    counts: dict[tuple[str | None, str], int]
    unresolved: tuple[tuple[str | None, Unresolved], ...]
    changed: bool
    dropped: dict[int, str] = field(default_factory=dict[int, str])
    notes: tuple[tuple[str, str], ...] = ()
    """(kernel, text) for the report."""
    classes: dict[tuple[str | None, str], RuleClass] = field(
        default_factory=dict[tuple[str | None, str], RuleClass]
    )
    """By kernel and rule, the weakest class of its edits here."""
    assumptions: tuple[tuple[str, Assumption], ...] = ()
    """(kernel, what an assumed rule takes for granted there)."""


def run_file(
    module: ParsedModule,
    analysis: Analysis,
    programs: Programs,
    settings: Settings,
    rules: Sequence[Rule],
    origins: tuple[Origin, ...] | None = None,
) -> FileResult:
    """Apply every rule in order. Raises GateError or DroppedEdit when a rule broke the file.

    origins: of the lines of a text that rules made before, None for upstream's own.
    """
    tree = cst.parse_module(module.text)
    text, origins = module.text, origins or identity(module.text)
    counts: Counter[tuple[str | None, str]] = Counter()
    unresolved: list[tuple[str | None, Unresolved]] = []
    notes: list[tuple[str, str]] = []
    assumptions: list[tuple[str, Assumption]] = []
    classes: dict[tuple[str | None, str], RuleClass] = {}
    gone: dict[int, str] = {}
    memo = Memo(launches=LaunchMemory(analysis))
    for rule in rules:
        hidden = without(settings.choices, rule.slug)
        file = FileContext(module, tree, analysis, programs, settings, origins, hidden, memo)
        result = rule.run(file)
        unresolved += [
            (f.kernel, _located(file, rule, f.node, f.why)) for f in result.findings if f.applicable
        ]
        notes += result.notes
        assumptions += [(k, Assumption(rule.slug, text, guard)) for k, text, guard in result.assumptions]
        if not result.edits:
            continue
        classes |= _classes(rule, result)
        counts.update(_counted(rule, result))
        tree = apply_edits(tree, result.edits)
        memo.keep(tree)
        after = tree.code
        moved = advance(origins, text, after, rule.slug)
        gone |= dropped(origins, moved, rule.slug)
        text, origins = after, moved
    changed = text != module.text
    if changed:
        check_output(str(module.file), module.text, tree, text)
    gone = still_dropped(gone, origins)
    findings = tuple(unresolved)
    return FileResult(
        module.name,
        text,
        origins,
        dict(counts),
        findings,
        changed,
        gone,
        tuple(notes),
        classes,
        tuple(assumptions),
    )


def _classes(rule: Rule, result: RuleResult) -> dict[tuple[str | None, str], RuleClass]:
    """By kernel, the weakest class that an edit of it has."""
    found: dict[tuple[str | None, str], RuleClass] = {}
    for edit in result.edits:
        if edit.counts:
            key, own = (edit.kernel, rule.slug), edit.rule_class or rule.rule_class
            found[key] = weakest(own, found.get(key, own))
    return found


def _counted(rule: Rule, result: RuleResult) -> Counter[tuple[str | None, str]]:
    return Counter((edit.kernel, rule.slug) for edit in result.edits if edit.counts)


def _located(file: FileContext, rule: Rule, node: cst.CSTNode, why: str) -> Unresolved:
    return Unresolved(rule.slug, file.file, file.upstream_line(node), why)
