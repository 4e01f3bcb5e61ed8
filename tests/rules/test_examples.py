"""The examples beside the rules of the program: what each becomes, what stays, and second runs."""

from __future__ import annotations

from collections import Counter
from pathlib import Path, PurePosixPath

import pytest

from tritonport.discover import analyse
from tritonport.engine.context import Settings
from tritonport.engine.gates import comments
from tritonport.engine.pipeline import FileResult, run_file
from tritonport.facts.programs import plan_programs
from tritonport.migrate import ORDER
from tritonport.passes import all_rules
from tritonport.resources import rules_root
from tritonport.sources.tree import SourceTree


def examples(ending: str) -> list[object]:
    found = [
        (slug, path)
        for slug in ORDER
        for path in sorted((rules_root() / "catalog" / slug / "examples").glob(ending))
    ]
    return [pytest.param(slug, path, id=f"{slug}/{path.name}") for slug, path in found]


def run(slug: str, folder: Path, text: str) -> FileResult:
    (folder / "example.py").write_text(text, encoding="utf-8")
    tree = SourceTree(folder, None, PurePosixPath("example.py"))
    analysis = analyse(tree)
    return run_file(
        analysis.index.modules["example"], analysis, plan_programs(analysis), Settings(), [all_rules()[slug]]
    )


@pytest.mark.parametrize(("slug", "path"), examples("*.in.py"))
def test_rewrites(slug: str, path: Path, tmp_path: Path) -> None:
    text = path.read_text(encoding="utf-8")
    result = run(slug, tmp_path, text)
    assert result.text == path.with_name(path.name.replace(".in.py", ".out.py")).read_text(encoding="utf-8")
    assert sum(result.counts.values()) > 0
    assert not comments(text) - comments(result.text)
    assert len(result.origins) == len(result.text.splitlines())


@pytest.mark.parametrize(("slug", "path"), examples("*.noop.py"))
def test_leaves_alone(slug: str, path: Path, tmp_path: Path) -> None:
    text = path.read_text(encoding="utf-8")
    result = run(slug, tmp_path, text)
    assert result.text == text
    assert not result.changed


def test_every_rule_has_examples_of_both_kinds() -> None:
    kinds = Counter(
        (p.parent.parent.name, p.name.split(".")[1]) for p in rules_root().glob("catalog/*/examples/*.py")
    )
    for slug, rule in all_rules().items():
        assert kinds[slug, "noop"], f"{slug} has no example that stays as it is"
        assert rule.rule_class == "manual" or kinds[slug, "in"], f"{slug} has no example that is rewritten"


def test_catalog_and_rules_agree() -> None:
    from tritonport.catalog import entries

    listed = {entry.slug: entry for entry in entries()}
    assert set(listed) == set(all_rules())
    assert len({entry.code for entry in listed.values()}) == len(listed)
    for slug, rule in all_rules().items():
        assert listed[slug].rule_class == rule.rule_class
        assert listed[slug].page.startswith(f"# {slug}\n")
