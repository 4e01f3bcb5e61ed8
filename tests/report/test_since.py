"""What an earlier run is told apart by: upstream, rules and configuration, on real migrations."""

from __future__ import annotations

import copy
import json
from pathlib import Path

import pytest

from tests.report.conftest import RETURNS, Run
from tests.support.cli import KERNEL, package
from tritonport.migrate import MigrateOptions, migrate_tree
from tritonport.report.review import review_html
from tritonport.report.since import Since, compare, hunks
from tritonport.sources import resolve


def run_of(root: Path, options: MigrateOptions | None = None, **modules: str) -> Run:
    """The record of one migration of a package of these modules."""
    folder = package(root / "demo", **modules)
    result = migrate_tree(resolve(str(folder)), root / "out", options or MigrateOptions(), lambda *_: None)
    return json.loads(json.dumps(result.record.to_json()))


@pytest.fixture(scope="module")
def before(tmp_path_factory: pytest.TempPathFactory) -> Run:
    return run_of(tmp_path_factory.mktemp("before"), rows=KERNEL, back=RETURNS)


def kinds(since: Since, run: Run) -> dict[tuple[str, str], set[str]]:
    """By file and function: what changed, according to the comparison."""
    return {
        (path, hunk["function"]): {cause.kind for cause in since.changed[hunk["fingerprint"]]}
        for path, hunk in hunks(run)
        if hunk["fingerprint"] in since.changed
    }


def test_the_same_run_has_no_difference(before: Run) -> None:
    since = compare(before, before)
    assert (since.changed, since.gone) == ({}, ())
    assert since.same == len(list(hunks(before)))


def test_upstream_changed_in_one_function(before: Run, tmp_path: Path) -> None:
    changed = RETURNS.replace("TILE=16, num_warps=4", "TILE=16, num_warps=8")
    now = run_of(tmp_path, rows=KERNEL, back=changed)
    since = compare(now, before)
    assert kinds(since, now) == {("demo/back.py", "halve"): {"upstream"}}
    assert {(gone.function, gone.causes[0].kind) for gone in since.gone} == {("halve", "upstream")}


def test_a_line_above_changes_no_other_hunk(before: Run, tmp_path: Path) -> None:
    now = run_of(tmp_path, rows=KERNEL.replace("@triton.jit", "LIMIT = 3\n\n\n@triton.jit"), back=RETURNS)
    assert compare(now, before).changed == {}


def test_a_new_file_is_upstreams(before: Run, tmp_path: Path) -> None:
    now = run_of(tmp_path, rows=KERNEL, back=RETURNS, more=KERNEL.replace("double", "twice"))
    assert set(kinds(compare(now, before), now)) >= {("demo/more.py", "twice_rows")}
    assert all(causes == {"upstream"} for causes in kinds(compare(now, before), now).values())


def test_another_schedule_is_configuration(before: Run, tmp_path: Path) -> None:
    now = run_of(tmp_path, MigrateOptions(schedule="interleaved"), rows=KERNEL, back=RETURNS)
    found = kinds(compare(now, before), now)
    assert found and all(causes == {"configuration"} for causes in found.values())


def test_a_rule_left_out_is_configuration(before: Run, tmp_path: Path) -> None:
    rules = tuple(slug for slug in before["changes"]["rules"] if slug != "launch-options")
    now = run_of(tmp_path, MigrateOptions(rules=rules, profile="mine"), rows=KERNEL, back=RETURNS)
    before = copy.deepcopy(before)
    before["settings"]["rules"] = list(before["changes"]["rules"])
    found = kinds(compare(now, before), now)
    assert ("demo/back.py", "halve") in found
    assert found["demo/back.py", "halve"] == {"configuration"}


def older_tool(run: Run, *, rule: str | None) -> Run:
    """What a tool would have recorded whose grid-collapse wrote something else (as far as a record shows it)."""
    old = copy.deepcopy(run)
    old["changes"]["code"] = f"sha256:{'0' * 64}"
    if rule is not None:
        old["changes"]["rules"][rule] = f"sha256:{'0' * 64}"
    for _, hunk in hunks(old):
        if any("grid-collapse" in line[2] for line in hunk["lines"] if len(line) > 2):
            hunk["fingerprint"] = hunk["fingerprint"][::-1]
    return old


def test_another_version_of_a_rule(before: Run) -> None:
    since = compare(before, older_tool(before, rule="grid-collapse"))
    assert since.changed
    assert {cause.why for causes in since.changed.values() for cause in causes} == {"grid-collapse changed"}


def test_code_that_rules_share_is_the_tools(before: Run) -> None:
    since = compare(before, older_tool(before, rule=None))
    assert {(c.kind, c.why) for causes in since.changed.values() for c in causes} == {
        ("rule", "the tool's code changed")
    }


def test_the_page_says_it_at_each_hunk(before: Run, tmp_path: Path) -> None:
    changed = RETURNS.replace("TILE=16, num_warps=4", "TILE=16, num_warps=8")
    html = review_html(run_of(tmp_path, rows=KERNEL, back=changed), before)
    assert html.count('class="cause upstream"') == 1
    assert "upstream changed: its function changed" in html
    assert html.count('class="cause unchanged"') == len(list(hunks(before))) - 1
    assert "1 hunks of" in html or "hunks of demo" in html


def test_a_file_that_moved_is_not_changed(before: Run, tmp_path: Path) -> None:
    now = run_of(tmp_path, rows=KERNEL, forth=RETURNS)
    since = compare(now, before)
    own = [h for path, h in hunks(now) if path == "demo/forth.py"]
    assert since.moved == {h["fingerprint"]: "demo/back.py" for h in own}
    assert (since.changed, since.gone, since.same) == ({}, (), len(list(hunks(before))))
    assert "unchanged, was in demo/back.py" in review_html(now, before)


def test_a_copy_beside_the_file_is_new(before: Run, tmp_path: Path) -> None:
    now = run_of(tmp_path, rows=KERNEL, back=RETURNS, forth=RETURNS)
    since = compare(now, before)
    assert since.moved == {}
    assert {path for path, _ in kinds(since, now)} == {"demo/forth.py"}


def test_hunks_that_are_gone_are_counted_by_function(before: Run, tmp_path: Path) -> None:
    since = compare(run_of(tmp_path, rows=KERNEL), before)
    left = [h["function"] for path, h in hunks(before) if path == "demo/back.py"]
    assert {g.function: g.count for g in since.gone} == {name: left.count(name) for name in left}
    assert since.lost == len(left)
