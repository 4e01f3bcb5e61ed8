"""Runs the rules over every file that may change, with several processes."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from concurrent.futures import ProcessPoolExecutor
from dataclasses import dataclass

from tritonport.discover import Analysis, analyse
from tritonport.discover.parse import ParsedModule
from tritonport.engine.context import Settings
from tritonport.engine.pipeline import FileResult, run_file
from tritonport.engine.rule import Rule
from tritonport.facts.programs import GRID_COLLAPSE, Programs, plan_programs
from tritonport.passes import all_rules
from tritonport.sources.tree import SourceTree

Progress = Callable[[str, int, int], None]


@dataclass(frozen=True)
class Work:
    """What the rules read, whichever file they run over."""

    analysis: Analysis
    programs: Programs
    settings: Settings
    rules: tuple[Rule, ...]

    def run(self, module: str) -> FileResult:
        return run_file(
            self.analysis.index.modules[module], self.analysis, self.programs, self.settings, self.rules
        )


def concerned(analysis: Analysis, programs: Programs) -> list[ParsedModule]:
    """Modules with a planned kernel, a helper variant, a launch of one, or a function on the way to one."""
    names = {key.partition(":")[0] for key in (*programs.plans, *programs.helpers)}
    names |= {s.module for s in analysis.sites if not programs.plans.keys().isdisjoint(s.kernels)}
    on_the_way = {unit.partition(":")[0] for unit in analysis.reachable}
    return [
        module
        for module in analysis.index.modules.values()
        if module.name in names or (module.name in on_the_way and _decorated(module))
    ]


def _decorated(module: ParsedModule) -> bool:
    return any(getattr(node, "decorator_list", ()) for node in module.tree.body)


def run_files(
    work: Work,
    modules: Sequence[ParsedModule],
    jobs: int,
    progress: Progress,
    what: str = "rules",
    overlay: Mapping[str, str] | None = None,
) -> dict[str, FileResult]:
    """Every module's result by name. overlay: what the analysis was made with, for workers that have to make it
    again. what: names the progress."""
    if jobs < 2 or len(modules) < 2:
        results: dict[str, FileResult] = {}
        for done, module in enumerate(modules, 1):
            results[module.name] = work.run(module.name)
            progress(what, done, len(modules))
        return results
    # Long files first, so that no worker is left with one at the end.
    names = [m.name for m in sorted(modules, key=lambda m: (-len(m.text), m.name))]
    slugs = [rule.slug for rule in work.rules]
    _WORKER.append(work)
    try:
        with ProcessPoolExecutor(
            min(jobs, len(names)),
            initializer=_start_worker,
            initargs=(work.analysis.discovery.tree, dict(overlay or {}), work.settings, slugs),
        ) as pool:
            return dict(sorted(_gathered(pool, names, progress, what).items()))
    finally:
        _WORKER.clear()


def _gathered(
    pool: ProcessPoolExecutor, names: Sequence[str], progress: Progress, what: str
) -> dict[str, FileResult]:
    results: dict[str, FileResult] = {}
    for done, result in enumerate(pool.map(_work, names), 1):
        results[result.module] = result
        progress(what, done, len(names))
    return results


def programs_for(analysis: Analysis, rules: Iterable[Rule]) -> Programs:
    """The programs as these rules make them: without the rule that collapses grids, nobody has to understand one."""
    return plan_programs(analysis, keep_grids=all(rule.slug != GRID_COLLAPSE for rule in rules))


_WORKER: list[Work] = []
"""In a worker, the one thing that it works on."""


def _start_worker(
    tree: SourceTree, overlay: Mapping[str, str], settings: Settings, slugs: Sequence[str]
) -> None:
    """A forked worker has what its parent read. Any other reads the closure for itself: cheaper than being sent
    syntax trees."""
    if not _WORKER:
        analysis = analyse(tree, overlay)
        rules = tuple(all_rules()[slug] for slug in slugs)
        _WORKER.append(Work(analysis, programs_for(analysis, rules), settings, rules))


def _work(name: str) -> FileResult:
    return _WORKER[0].run(name)
