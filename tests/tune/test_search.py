"""Search and ablation with the true compiler, where it is installed, on one small kernel."""

from __future__ import annotations

from pathlib import Path, PurePosixPath

import pytest

from tritonport.migrate import MigrateOptions, active_rules, migrate_tree
from tritonport.npu.tier import run_npu_compile
from tritonport.npu.toolchain import Missing, locate
from tritonport.sources.tree import SourceTree
from tritonport.tune.ablate import Ablate
from tritonport.tune.markdown import page
from tritonport.tune.outcome import entries, figures_text
from tritonport.tune.search import Budget, Search, originals_figures
from tritonport.tune.variants import Compiler, Workshop
from tritonport.tuning import choices_for, covered, load_tuning, tuning_text

TREE = SourceTree(Path(__file__).parent / "kernels", None, PurePosixPath("wide_rows.py"))
KERNEL = "wide_rows:scale_rows"


def quiet(*_: object) -> None:
    return None


@pytest.fixture
def compiler(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Compiler:
    if isinstance(found := locate(), Missing):
        pytest.skip(found.why)
    monkeypatch.setattr("tritonport.npu.cache.cache_folder", lambda: tmp_path / "cache")
    return Compiler.find("a2", None, None)


def test_the_largest_tile_that_fits_is_found_written_and_taken(compiler: Compiler, tmp_path: Path) -> None:
    workshop = Workshop.of(TREE, "a2")
    rules = active_rules(MigrateOptions(profile="tuned"))
    search = Search(workshop, rules, compiler, Budget(rounds=1), quiet)
    winners = search.run("*")
    before = {key: figures_text(found) for key, found in originals_figures(search, list(winners)).items()}
    file = tmp_path / "tuning.toml"
    file.write_text(tuning_text(entries(workshop, winners, before, compiler)), encoding="utf-8")
    (entry,) = load_tuning(file)
    (tile,) = entry.tiles
    assert (entry.name, entry.toolchain, tile.parameter) == (KERNEL, compiler.version, "BT")
    assert tile.limit in (16, 32)
    assert tile.beside == ((6, 1024),)
    assert set(entry.figures) == {"original", "wide_rows"}
    known = covered(load_tuning(file), "a2", compiler.version)
    assert search.run("*", known) == {}, "a kernel with an entry is not searched again, whatever its release"

    for limit, fits in ((tile.limit, True), (2 * tile.limit, False)):
        text = file.read_text(encoding="utf-8").replace(f"limit = {tile.limit}", f"limit = {limit}")
        (tmp_path / "changed.toml").write_text(text, encoding="utf-8")
        options = MigrateOptions(rules=("tile-enlarge", "grid-collapse"), tuning=tmp_path / "changed.toml")
        migrate_tree(TREE, tmp_path / "out", options, quiet)
        report = run_npu_compile(
            source=TREE,
            out=tmp_path / "out",
            cases=None,
            target="a2",
            jobs=1,
            toolchain=None,
            progress=quiet,
        )
        assert report.kernels[KERNEL]["cases"][0]["after"]["fits"] is fits


@pytest.mark.slow
def test_an_ablation_measures_every_line(compiler: Compiler) -> None:
    workshop = Workshop.of(TREE, "a2")
    rules = active_rules(MigrateOptions(profile="tuned"))
    choices = choices_for(workshop.analysis, "a2")
    (found,) = Ablate(workshop, rules, compiler, choices, 1, quiet).run("scale_*")
    assert found.case == "wide_rows"
    assert set(found.rows) >= {"none", "all"}
    assert all(measured and measured[0].fits for measured in found.rows.values())
    text = page([found], "On one kernel.")
    assert "| none | yes | " in text
    assert text.count("\n| ") == 1 + len(found.rows)


def test_a_kernel_that_nothing_matches_is_left_out(compiler: Compiler) -> None:
    workshop = Workshop.of(TREE, "a2")
    rules = active_rules(MigrateOptions(profile="baseline"))
    assert Search(workshop, rules, compiler, Budget(rounds=1), quiet).run("other_*") == {}
