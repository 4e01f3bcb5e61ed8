"""Rules that read what the others made of all files: they run over the output, on an analysis of its own."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from typing import Protocol, runtime_checkable

from tritonport.discover import Analysis, analyse
from tritonport.emit.tree import runtime_path, runtime_text
from tritonport.engine.context import Settings
from tritonport.engine.linemap import identity, still_dropped
from tritonport.engine.pipeline import FileResult, run_file
from tritonport.engine.rule import Rule
from tritonport.facts.programs import plan_programs


@runtime_checkable
class AfterRule(Rule, Protocol):
    """A rule that runs after all files have been through the rules of single files."""

    def concerns(self, analysis: Analysis) -> frozenset[str]:
        """Modules that it changes."""
        ...


def split_rules(rules: Iterable[Rule]) -> tuple[tuple[Rule, ...], tuple[AfterRule, ...]]:
    """Rules of single files, and those that run after them."""
    listed = list(rules)
    return (
        tuple(rule for rule in listed if not isinstance(rule, AfterRule)),
        tuple(rule for rule in listed if isinstance(rule, AfterRule)),
    )


def run_after(
    first: Analysis, settings: Settings, results: Mapping[str, FileResult], rules: Sequence[AfterRule]
) -> dict[str, FileResult]:
    """The results of all files with these rules' changes. first: the analysis of upstream's text."""
    found = dict(results)
    if not rules or not any(result.changed for result in results.values()):
        return found
    tree = first.discovery.tree
    modules = first.index.modules
    overlay = {str(modules[name].file): result.text for name, result in results.items() if result.changed}
    analysis = analyse(tree, {**overlay, runtime_path(tree): runtime_text()}, modules)
    concerned = sorted(frozenset[str]().union(*(rule.concerns(analysis) for rule in rules)) & modules.keys())
    if not concerned:
        return found
    programs = plan_programs(analysis)
    for name in concerned:
        known = found.get(name) or _untouched(name, modules[name].text)
        again = run_file(analysis.index.modules[name], analysis, programs, settings, rules, known.origins)
        found[name] = _joined(known, again)
    return found


def _untouched(module: str, text: str) -> FileResult:
    return FileResult(module, text, identity(text), {}, (), changed=False)


def _joined(first: FileResult, second: FileResult) -> FileResult:
    """What became of one file in both."""
    return FileResult(
        first.module,
        second.text,
        second.origins,
        dict(Counter(first.counts) + Counter(second.counts)),
        (*first.unresolved, *second.unresolved),
        first.changed or second.changed,
        still_dropped({**first.dropped, **second.dropped}, second.origins),
        (*first.notes, *second.notes),
        {**first.classes, **second.classes},
        (*first.assumptions, *second.assumptions),
    )
