"""The main job: sources in, a proved output folder and a record out."""

from __future__ import annotations

import time
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path, PurePosixPath
from typing import Any

from tritonport.after import run_after, split_rules
from tritonport.discover import Analysis, analyse
from tritonport.emit.backend import EMIT as BACKEND
from tritonport.emit.backend import BackendPackage, asked_kernels, backend_package
from tritonport.emit.lock import (
    LINES,
    LOCK,
    code_digest,
    lines_text,
    lock_text,
    rule_digests,
)
from tritonport.emit.tree import (
    check_names,
    check_out,
    runtime_module,
    runtime_path,
    runtime_text,
    staged,
    write_files,
)
from tritonport.engine.assume import Assumption
from tritonport.engine.choices import Choices
from tritonport.engine.context import Settings
from tritonport.engine.gates import GateError
from tritonport.engine.linemap import Origin
from tritonport.engine.pipeline import FileResult
from tritonport.engine.rule import Rule
from tritonport.errors import ExitCode, UserError
from tritonport.facts.elsewhere import with_uses_elsewhere
from tritonport.facts.fingerprint import fingerprints
from tritonport.facts.programs import Programs
from tritonport.header import with_header
from tritonport.outcome import exit_code, run_record, with_open_assumptions
from tritonport.overrides import Entry, Overrides, judge
from tritonport.parallel import Progress, Work, concerned, programs_for, run_files
from tritonport.passes import all_rules
from tritonport.profiles import load_profile
from tritonport.record import RunRecord
from tritonport.report.changes import run_changes
from tritonport.sources.tree import SourceTree, digest_bytes
from tritonport.targets import load_target
from tritonport.tuning import choices_for, load_tuning

EMITS = ("tree", BACKEND)
TILE_RULE = "tile-enlarge"
"""The rule that reads tuning files; without it single kernels have no choices of their own."""
ORDER = (
    "refuse",
    "other-without-mask",
    "early-return",
    "grid-collapse",
    "empty-work",
    "launch-options",
    "host-device",
)
"""The order in which the rules of the program run. Rules on tiles come before them: they read upstream's form."""


@dataclass(frozen=True)
class MigrateOptions:
    """target, profile: names in rules/. schedule: contiguous or interleaved. rules: slugs, None for the profile's.

    tuning: a tuning file, in front of those that come with the tool. choices: what single kernels get instead of
    any tuning file's. overrides: entries about single kernels, which win over all of these.
    emit: one of EMITS. assumptions: what the user asserts about sizes; each becomes a guard of the launches.
    """

    target: str = "a2"
    profile: str = "baseline"
    schedule: str = "contiguous"
    jobs: int = 1
    rules: tuple[str, ...] | None = None
    command: str = ""
    tuning: Path | None = None
    choices: Choices | None = None
    overrides: tuple[Entry, ...] = ()
    emit: str = "tree"
    assumptions: tuple[Assumption, ...] = ()


@dataclass(frozen=True)
class MigrateResult:
    """record: what run.json says. origins: per output file, the upstream line and rules of every line."""

    record: RunRecord
    out: Path
    exit_code: ExitCode
    origins: Mapping[str, tuple[Origin, ...]]


def migrate_tree(tree: SourceTree, out: Path, options: MigrateOptions, progress: Progress) -> MigrateResult:
    """Migrate everything that the entry reaches into OUT, replacing OUT as a whole or not at all."""
    started = time.monotonic()
    check_out(out, tree)
    analysis = _analysed(tree)
    rules = active_rules(options)
    programs = programs_for(analysis, rules)
    _check_not_output(tree, programs)
    check_names(tree, analysis.discovery.files)
    _check_assumptions(analysis, programs, options)
    overrides = _overrides(analysis, rules, options)
    settings = _engine_settings(tree, analysis, rules, options)
    settings = replace(settings, choices=overrides.choices(settings.choices), assumptions=options.assumptions)
    by_file, after = split_rules(rules)
    if options.emit == BACKEND:
        after = ()  # in a package for FLA's dispatch the callers are upstream's own
    work = Work(analysis, programs, settings, by_file)
    results = run_files(work, concerned(analysis, programs), options.jobs, progress)
    results = run_after(analysis, _of_output(settings, programs), results, after)
    record = run_record(analysis, programs, results, rules, options.target, options.profile)
    asked = asked_kernels(analysis, record.kernels) if options.emit == BACKEND else ()
    kernels, overrides = overrides.over(with_open_assumptions(record.kernels, asked))
    changed = {name: result for name, result in results.items() if result.changed}
    texts, origins = _outputs(tree, analysis, changed)
    if options.emit != BACKEND:
        kernels = with_uses_elsewhere(kernels, analysis, texts)
    _check_second_run(work, (*by_file, *after), texts, _of_output(settings, programs), options.jobs, progress)
    dropped = {str(analysis.index.modules[name].file): result.dropped for name, result in changed.items()}
    extra: dict[str, Any] = {
        "settings": _settings(options, overrides),
        "changes": {
            "code": code_digest(),
            "rules": rule_digests(rules),
            **run_changes(analysis.discovery, texts, origins, dropped),
        },
    }
    package = None
    if options.emit == BACKEND:
        package = backend_package(analysis, kernels, texts, origins)
        extra["backend"] = package.to_json()
    if overrides.judged:
        extra["overrides"] = [item.to_json() for item in overrides.judged]
    record = replace(record, kernels=kernels, seconds=time.monotonic() - started, extra=extra)
    write_output(out, tree, record, texts, origins, dropped, package)
    return MigrateResult(record, out, exit_code(record), origins)


def _engine_settings(
    tree: SourceTree, analysis: Analysis, rules: Sequence[Rule], options: MigrateOptions
) -> Settings:
    settings = Settings(options.target, options.profile, options.schedule, runtime_module(tree))
    buffer = load_target(options.target).figures.get("ub")
    if buffer is not None:
        settings = replace(settings, unified_buffer=buffer.value)
    choices = options.choices
    if choices is None:
        tuned = any(rule.slug == TILE_RULE for rule in rules)
        own = load_tuning(options.tuning) if options.tuning is not None else ()
        choices = choices_for(analysis, options.target, own) if tuned else {}
    return replace(settings, choices=choices)


def _overrides(analysis: Analysis, rules: Sequence[Rule], options: MigrateOptions) -> Overrides:
    slugs = [rule.slug for rule in rules]
    return judge(options.overrides, fingerprints(analysis), analysis.index.modules, slugs)


def _of_output(settings: Settings, programs: Programs) -> Settings:
    """What a kernel goes without, its task function goes without too."""
    tasks = {
        f"{key.partition(':')[0]}:{plan.variant.name}": settings.choices[key]
        for key, plan in programs.plans.items()
        if key in settings.choices
    }
    return replace(settings, choices={**settings.choices, **tasks})


def active_rules(options: MigrateOptions) -> tuple[Rule, ...]:
    """The profile's rules that exist, program rules first. Raises UserError for an unknown slug."""
    known = all_rules()
    slugs = options.rules if options.rules is not None else load_profile(options.profile).rules
    for slug in slugs:
        if slug not in known:
            raise UserError(f"unknown rule {slug!r}", f"known rules: {', '.join(sorted(known))}")
    ordered = [s for s in slugs if s not in ORDER] + [s for s in ORDER if s in slugs]
    return tuple(known[slug] for slug in ordered)


def _analysed(tree: SourceTree) -> Analysis:
    analysis = analyse(tree)
    for problem in analysis.discovery.problems:
        raise UserError(
            problem.message, "mend it, or leave it out of the entry", str(problem.file), problem.line
        )
    if not analysis.discovery.kernels:
        raise UserError(
            "no Triton kernel is reachable from the entry",
            "name a folder or file with kernels",
            str(tree.entry if tree.entry.parts else tree.entry_path),
        )
    return analysis


def _outputs(
    tree: SourceTree, analysis: Analysis, changed: Mapping[str, FileResult]
) -> tuple[dict[str, str], dict[str, tuple[Origin, ...]]]:
    texts: dict[str, str] = {}
    origins: dict[str, tuple[Origin, ...]] = {}
    for name, result in changed.items():
        module = analysis.index.modules[name]
        path = str(module.file)
        texts[path], added = with_header(result.text, tree, module)
        origins[path] = (
            *result.origins[: added.at],
            *[Origin(None)] * added.lines,
            *result.origins[added.at :],
        )
    return texts, origins


def _settings(options: MigrateOptions, overrides: Overrides) -> dict[str, Any]:
    """What decided the output besides sources and tool; members that say nothing are left out."""
    said = overrides.settings()
    return {
        "target": options.target,
        "profile": options.profile,
        "schedule": options.schedule,
        "rules": options.rules,
        **({"tuning": digest_bytes(options.tuning.read_bytes())} if options.tuning is not None else {}),
        **({"overrides": said} if said else {}),
        **({"emit": options.emit} if options.emit != MigrateOptions.emit else {}),
        **({"assumptions": [a.text for a in options.assumptions]} if options.assumptions else {}),
    }


def _check_not_output(tree: SourceTree, programs: Programs) -> None:
    """Raises UserError for a folder that this tool made, where nothing is left to migrate."""
    above = [tree.entry_path, *tree.entry_path.parents]
    folders = above[: above.index(tree.root) + 1]
    if programs.persistent and not programs.plans and any((f / LOCK).is_file() for f in folders):
        raise UserError(
            "tritonport migrated these sources already", "name the originals", str(tree.entry_path)
        )


def _check_assumptions(analysis: Analysis, programs: Programs, options: MigrateOptions) -> None:
    """Raises UserError for an assertion that no migrated kernel's parameters can be held to."""
    for assumption in options.assumptions:
        kernels = [analysis.functions[key].parameters for key in programs.plans]
        if not any(set(assumption.names) <= set(parameters) for parameters in kernels):
            names = " and ".join(f"`{name}`" for name in assumption.names)
            raise UserError(
                f"--assume {assumption.text!r}: no kernel that is migrated has the parameter {names}",
                "name parameters of a kernel; `tritonport plan` lists the kernels",
            )


def _check_second_run(
    first: Work,
    rules: tuple[Rule, ...],
    texts: Mapping[str, str],
    settings: Settings,
    jobs: int,
    progress: Progress,
) -> None:
    """Migrating the output again must change nothing."""
    tree = first.analysis.discovery.tree
    overlay = {**texts, runtime_path(tree): runtime_text()}
    analysis = analyse(tree, overlay, first.analysis.index.modules)
    work = Work(analysis, programs_for(analysis, rules), settings, rules)
    if work.programs.plans:
        raise GateError(f"a second run would rewrite {', '.join(sorted(work.programs.plans))}")
    modules = [module for module in concerned(analysis, work.programs) if str(module.file) in texts]
    for name, again in run_files(work, modules, jobs, progress, "second run", overlay).items():
        if again.changed:
            raise GateError(f"a second run would change {analysis.index.modules[name].file}")


def write_output(
    out: Path,
    tree: SourceTree,
    record: RunRecord,
    texts: Mapping[str, str],
    origins: Mapping[str, tuple[Origin, ...]],
    dropped: Mapping[str, Mapping[int, str]],
    package: BackendPackage | None = None,
) -> None:
    """Everything of OUT, staged and put in place at once. package: what is emitted instead of a tree."""
    files: Mapping[str, str] = {**texts, runtime_path(tree): runtime_text()}
    modules: Mapping[str, str] | None = {tree.module_name(PurePosixPath(path)): path for path in files}
    prefix = ""
    if package is not None:
        files, modules, origins, prefix = package.files, None, package.origins, f"{package.name}/"
        dropped = {f"{prefix}{path}": lines for path, lines in dropped.items()}
    before = {path: upstream_bytes(tree, path.removeprefix(prefix)) for path in files}
    with staged(out) as stage:
        write_files(stage, tree, files, modules)
        pairs = {path: (before[path], text.encode()) for path, text in files.items()}
        (stage / LINES).write_text(lines_text(origins, dropped), encoding="utf-8")
        (stage / LOCK).write_text(lock_text(record, record.extra["settings"], pairs), encoding="utf-8")


def upstream_bytes(tree: SourceTree, path: str) -> bytes:
    """A file of the sources; empty for one that upstream does not have."""
    file = tree.root / path
    return file.read_bytes() if file.is_file() else b""
