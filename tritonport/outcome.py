"""What became of every kernel of a run: the record, and the exit status that follows from it."""

from __future__ import annotations

import ast
from collections import Counter
from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import replace

from tritonport import __version__
from tritonport.discover import Analysis
from tritonport.discover.model import Grid, Kernel
from tritonport.emit.lock import rules_digest
from tritonport.engine.device_code import Files
from tritonport.engine.pipeline import FileResult
from tritonport.engine.residual import residues
from tritonport.engine.rule import Rule
from tritonport.errors import ExitCode
from tritonport.facts.fingerprint import fingerprints
from tritonport.facts.programs import GRID_COLLAPSE, ProgramPlan, Programs
from tritonport.record import (
    TIERS,
    Assumption,
    KernelRecord,
    Outcome,
    RuleClass,
    RuleUse,
    RunRecord,
    TierResult,
    Unresolved,
    weakest,
)
from tritonport.sources.tree import digest_files
from tritonport.targets import load_target


def run_record(
    analysis: Analysis,
    programs: Programs,
    results: Mapping[str, FileResult],
    rules: Sequence[Rule],
    target: str,
    profile: str,
) -> RunRecord:
    """The record of a run over these files; its time and further members are added later."""
    tree = analysis.discovery.tree
    prints = fingerprints(analysis)
    classes: dict[str, RuleClass] = {rule.slug: rule.rule_class for rule in rules}
    counts: Counter[tuple[str | None, str]] = Counter()
    unresolved: dict[str, list[Unresolved]] = {}
    own: dict[tuple[str | None, str], RuleClass] = {}
    notes: dict[str, list[str]] = {}
    assumed: dict[str, list[Assumption]] = {}
    for result in results.values():
        counts.update(result.counts)
        own.update({key: weakest(found, own.get(key, found)) for key, found in result.classes.items()})
        for kernel, assumption in result.assumptions:
            assumed.setdefault(kernel, []).append(assumption)
        for kernel, text in result.notes:
            notes.setdefault(kernel, []).append(text)
        for kernel, item in result.unresolved:
            unresolved.setdefault(kernel or "", []).append(item)
    _scan(analysis, programs, results, rules, unresolved)
    kept = _grid_kept(rules, target)
    kernels = tuple(
        replace(
            _kernel_record(
                analysis,
                programs,
                kernel,
                counts,
                {**classes, **_by_slug(own, kernel)},
                unresolved,
                notes,
                kept,
            ),
            fingerprint=prints.get(kernel.name),
            assumptions=tuple(dict.fromkeys(assumed.get(kernel.name, ()))),
        )
        for kernel in analysis.discovery.kernels
        if kernel.reachable or kernel.name in programs.refused
    )
    return RunRecord(
        tool={"version": __version__, "rules_digest": rules_digest()},
        source={
            "distribution": tree.distribution,
            "version": tree.version,
            "entry": str(tree.entry),
            "digest": digest_files(tree.root, analysis.discovery.files),
        },
        target=target,
        profile=profile,
        kernels=kernels,
        seconds=0.0,
    )


def _grid_kept(rules: Sequence[Rule], target: str) -> str | None:
    """Why no grid is collapsed in this run; None where the rule is active."""
    if any(rule.slug == GRID_COLLAPSE for rule in rules):
        return None
    reason = load_target(target).skip.get(GRID_COLLAPSE)
    return (
        f"the grid stays on {target}: {reason}" if reason else f"the grid stays: {GRID_COLLAPSE} is left out"
    )


def _by_slug(own: Mapping[tuple[str | None, str], RuleClass], kernel: Kernel) -> dict[str, RuleClass]:
    """The classes of a kernel's edits, where they were noted."""
    return {slug: found for (name, slug), found in own.items() if name == kernel.name}


def _scan(
    analysis: Analysis,
    programs: Programs,
    results: Mapping[str, FileResult],
    rules: Sequence[Rule],
    unresolved: dict[str, list[Unresolved]],
) -> None:
    """The residual scan: what may not remain, attributed to the kernel it belongs to."""
    slugs = frozenset(rule.slug for rule in rules)
    files = _output_files(analysis, results)
    for name, result in results.items():
        kernels = {
            k.partition(":")[2].rpartition(".")[2]: k for k in programs.plans if k.partition(":")[0] == name
        }
        file = str(analysis.index.modules[name].file)
        for residue in residues(result.text, frozenset(kernels), slugs, name, files):
            origin = result.origins[min(residue.line, len(result.origins)) - 1]
            item = Unresolved(
                residue.slug, file, origin.line or residue.line, f"left in the output: {residue.why}"
            )
            unresolved.setdefault(kernels.get(residue.function, ""), []).append(item)


def _output_files(analysis: Analysis, results: Mapping[str, FileResult]) -> Files:
    """The modules as they are in the output, over those that stay."""
    modules = analysis.index.modules
    changed = {name: ast.parse(result.text) for name, result in results.items() if result.changed}
    return Files({name: (changed.get(name, m.tree), m.is_package) for name, m in modules.items()})


def _kernel_record(
    analysis: Analysis,
    programs: Programs,
    kernel: Kernel,
    counts: Counter[tuple[str | None, str]],
    classes: Mapping[str, RuleClass],
    unresolved: Mapping[str, list[Unresolved]],
    said: Mapping[str, list[str]],
    grid_kept: str | None,
) -> KernelRecord:
    launches = analysis.discovery.launches_of(kernel)
    plan = programs.plans.get(kernel.name)
    items = [*unresolved.get(kernel.name, [])]
    outcome: Outcome = "needs-review" if items else "converted"
    notes = tuple(said.get(kernel.name, ()))
    refusal = programs.refused.get(kernel.name)
    if refusal is not None:
        items.append(Unresolved(GRID_COLLAPSE, refusal.file, refusal.line, refusal.why))
        outcome = "not-converted"
    if kernel.name in programs.persistent:
        notes = ("already persistent: an earlier run made it",)
    if plan is not None and grid_kept is not None:
        notes = (*notes, grid_kept)
    tiers: dict[str, TierResult] = dict.fromkeys(TIERS, "not-run")
    tiers["parse"] = "pass"
    return KernelRecord(
        name=kernel.name,
        file=str(kernel.file),
        line=kernel.line,
        outcome=outcome,
        rules=tuple(
            RuleUse(slug, classes[slug], count)
            for (name, slug), count in sorted(counts.items(), key=lambda item: item[0][1])
            if name == kernel.name
        ),
        unresolved=tuple(sorted(items, key=lambda i: (i.file, i.line, i.slug))),
        grid_before=launches[0].grid.text if launches else None,
        grid_after=_grid_after(launches[0].grid, plan, grid_kept) if plan and launches else None,
        tiers=tiers,
        reachable=True,
        apart=kernel.apart,
        notes=notes,
    )


def _grid_after(grid: Grid, plan: ProgramPlan, kept: str | None) -> str:
    return f"(min({_tasks(grid)}, {plan.cores} cores),)" if kept is None else grid.text


def _tasks(grid: Grid) -> str:
    axes = grid.axes
    if not axes:
        return f"product of {grid.text}"
    return " * ".join(f"({axis})" if len(axes) > 1 and not axis.isidentifier() else axis for axis in axes)


def with_open_assumptions(
    kernels: Iterable[KernelRecord], asked: Collection[str]
) -> tuple[KernelRecord, ...]:
    """Kernels whose assumption nothing checks at run time need a review. asked: kernels with a verifier that does."""
    return tuple(
        kernel if kernel.name in asked or not _unchecked(kernel) else _open(kernel) for kernel in kernels
    )


def _unchecked(kernel: KernelRecord) -> list[Unresolved]:
    return [
        Unresolved(
            item.slug, kernel.file, kernel.line, f"it assumes {item.text}, and nothing asks that at run time"
        )
        for item in kernel.assumptions
        if item.guard is not None
    ]


def _open(kernel: KernelRecord) -> KernelRecord:
    outcome: Outcome = "needs-review" if kernel.outcome == "converted" else kernel.outcome
    return replace(kernel, unresolved=(*kernel.unresolved, *_unchecked(kernel)), outcome=outcome)


def exit_code(record: RunRecord) -> ExitCode:
    """1 when a kernel that counts is not converted or needs review, and when an override needs a look."""
    counted = [k for k in record.kernels if k.reachable and k.apart is None]
    overrides = any(item["state"] != "applied" for item in record.extra.get("overrides", ()))
    return ExitCode.FINDINGS if overrides or any(_needs_a_look(k) for k in counted) else ExitCode.OK


def _needs_a_look(kernel: KernelRecord) -> bool:
    """Whether a kernel has something that nobody accepted."""
    accepted = kernel.suppressed and not kernel.unresolved
    return kernel.outcome != "converted" and not accepted
