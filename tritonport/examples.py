"""Runs the examples beside a rule: `<name>.in.py` must become `<name>.out.py`, and `<name>.noop.py` must stay."""

from __future__ import annotations

import difflib
import tempfile
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path, PurePosixPath

from tritonport.catalog import CatalogEntry
from tritonport.discover import analyse
from tritonport.engine.apply import DroppedEdit
from tritonport.engine.context import Settings
from tritonport.engine.gates import GateError, comments
from tritonport.engine.pipeline import FileResult, run_file
from tritonport.engine.rule import Rule
from tritonport.errors import UserError
from tritonport.facts.programs import plan_programs
from tritonport.passes import all_rules
from tritonport.sources.tree import SourceTree

IN, OUT, NOOP = ".in.py", ".out.py", ".noop.py"


@dataclass(frozen=True, slots=True)
class ExampleResult:
    """What became of one example. why: empty when it is as it should be. diff: from the expected to the actual text."""

    rule: str
    name: str
    why: str = ""
    diff: str = ""


def run_examples(entry: CatalogEntry) -> Iterator[ExampleResult]:
    """Every example of one rule. Raises UserError when nothing is registered under the slug."""
    rule = all_rules().get(entry.slug)
    if rule is None:
        raise UserError(
            f"no rule {entry.slug!r} is registered", "its module must define RULE", file=str(entry.folder)
        )
    files = sorted(entry.examples.glob("*.py"))
    for file in files:
        if file.name.endswith(IN):
            yield from _rewrites(entry, rule, file)
        elif file.name.endswith(NOOP):
            yield _stays(entry, rule, file)
        elif not (file.name.endswith(OUT) and file.with_name(stem(file) + IN).is_file()):
            yield ExampleResult(entry.slug, file.name, f"neither NAME{IN} with its NAME{OUT}, nor NAME{NOOP}")
    if not any(file.name.endswith(NOOP) for file in files):
        yield ExampleResult(entry.slug, "examples", f"no example that stays as it is (NAME{NOOP})")
    if rule.rule_class != "manual" and not any(file.name.endswith(IN) for file in files):
        yield ExampleResult(entry.slug, "examples", f"no example that is rewritten (NAME{IN}, NAME{OUT})")
    if rule.rule_class != entry.rule_class:
        yield ExampleResult(
            entry.slug,
            "rule.toml",
            f"class is {entry.rule_class!r} here and {rule.rule_class!r} in the code",
        )


def stem(file: Path) -> str:
    """`two_axes` of `two_axes.in.py`."""
    return file.name.partition(".")[0]


def apply_rule(rule: Rule, text: str) -> FileResult:
    """One rule over one module of its own. Raises GateError or DroppedEdit when it broke the text."""
    with tempfile.TemporaryDirectory(prefix="tritonport-example-") as folder:
        (Path(folder) / "example.py").write_text(text, encoding="utf-8")
        analysis = analyse(SourceTree(Path(folder), None, PurePosixPath("example.py")))
        for problem in analysis.discovery.problems:
            raise GateError(f"line {problem.line}: {problem.message}")
        return run_file(
            analysis.index.modules["example"], analysis, plan_programs(analysis), Settings(), [rule]
        )


def _rewrites(entry: CatalogEntry, rule: Rule, file: Path) -> Iterator[ExampleResult]:
    name = stem(file)
    expected = file.with_name(name + OUT)
    if not expected.is_file():
        yield ExampleResult(entry.slug, name, f"{expected.name} is missing")
        return
    before, after = file.read_text(encoding="utf-8"), expected.read_text(encoding="utf-8")
    yield _becomes(entry, rule, name, before, after)
    second = _becomes(entry, rule, name, after, after)
    if second.why:
        yield ExampleResult(entry.slug, name, "a second run changes it again", second.diff)


def _stays(entry: CatalogEntry, rule: Rule, file: Path) -> ExampleResult:
    text = file.read_text(encoding="utf-8")
    return _becomes(entry, rule, stem(file), text, text)


def _becomes(entry: CatalogEntry, rule: Rule, name: str, before: str, after: str) -> ExampleResult:
    try:
        result = apply_rule(rule, before)
    except (GateError, DroppedEdit) as error:
        return ExampleResult(entry.slug, name, str(error))
    if result.text != after:
        why = "it is rewritten and should stay" if before == after else "it becomes something else"
        return ExampleResult(entry.slug, name, why, _diff(after, result.text))
    lost = comments(before) - comments(result.text)
    if lost:
        return ExampleResult(entry.slug, name, f"comments were lost: {', '.join(sorted(lost))}")
    if before != after and not any(result.counts.values()):
        return ExampleResult(entry.slug, name, "the rule counts no rewrite")
    return ExampleResult(entry.slug, name)


def _diff(expected: str, actual: str) -> str:
    lines = difflib.unified_diff(
        expected.splitlines(keepends=True), actual.splitlines(keepends=True), "expected", "actual"
    )
    return "".join(lines)
