"""Configuration: the nearest file counts, and whatever is wrong in it is named with its line."""

from __future__ import annotations

from pathlib import Path

import pytest

from tritonport.config import Config, load
from tritonport.errors import UserError
from tritonport.profiles import active_rules, known_rules, load_profile, profile_names
from tritonport.resources import rules_root
from tritonport.targets import load_target, target_names


def test_without_a_file_the_defaults_hold(tmp_path: Path) -> None:
    assert load(tmp_path) == Config()


def test_the_nearest_file_counts_and_foreign_tables_are_left_alone(tmp_path: Path) -> None:
    inner = tmp_path / "a" / "b"
    inner.mkdir(parents=True)
    (tmp_path / "tritonport.toml").write_text('target = "a3"\njobs = 2\nverify = ["interpret"]\n')
    (tmp_path / "a" / "pyproject.toml").write_text('[tool.other]\nkey = "value"\n')
    found = load(inner)
    assert (found.target, found.jobs, found.verify) == ("a3", 2, ("interpret",))
    (inner / "pyproject.toml").write_text('[tool.tritonport]\nprofile = "tuned"\nignore = ["early-return"]\n')
    assert load(inner) == Config(profile="tuned", ignore=("early-return",), file=inner / "pyproject.toml")


@pytest.mark.parametrize(
    ("text", "line", "message"),
    [
        ('target = "a2"\ntargte = "a3"\n', 2, "unknown option 'targte'"),
        ('ignore = ["no-such-rule"]\n', 1, "no-such-rule"),
        ('\nprofile = "fast"\n', 2, "'fast'"),
        ("jobs = true\n", 1, "whole number"),
        ('verify = "interpret"\n', 1, "a list is needed"),
        ('verify = ["parse", "magic"]\n', 1, "unknown value"),
        ("target = \n", 1, "not valid TOML"),
    ],
)
def test_what_is_wrong_is_named(tmp_path: Path, text: str, line: int, message: str) -> None:
    (tmp_path / "tritonport.toml").write_text(text)
    with pytest.raises(UserError) as caught:
        load(tmp_path)
    assert message in str(caught.value)
    assert (caught.value.file, caught.value.line) == (str(tmp_path / "tritonport.toml"), line)


@pytest.mark.parametrize("name", target_names())
def test_every_number_of_a_target_has_its_source(name: str) -> None:
    target = load_target(name)
    assert target.name == name and target.chips
    for entry in (*target.chips, *target.figures.values()):
        assert entry.source.strip()
    for chip in target.chips:
        assert chip.vector_cores == 2 * chip.cube_cores, "one AI core is one cube and two vector cores"
    assert set(target.skip) <= set(known_rules())
    fewest, most = target.cores(cube=True)
    assert 0 < fewest <= most


def test_the_limits_are_those_that_the_compiler_prints() -> None:
    figures = {name: figure.value for name, figure in load_target("a2").figures.items()}
    assert figures["ub"] == 192 * 1024 * 8
    assert figures["l1"] == 512 * 1024 * 8
    assert figures["l0c"] == 128 * 1024 * 8
    assert figures["grid"] == 2**16 - 1


def test_profiles_name_rules_of_the_catalog_in_order() -> None:
    catalog = {path.name for path in (rules_root() / "catalog").iterdir() if path.is_dir()}
    assert profile_names() == ("baseline", "max", "tuned")
    assert set(known_rules()) <= catalog
    baseline = load_profile("baseline").rules
    assert len(set(baseline)) == len(baseline)
    assert set(baseline) <= set(load_profile("tuned").rules) <= set(load_profile("max").rules)


def test_ignored_and_skipped_rules_do_not_run() -> None:
    rules = active_rules("baseline", ignore=("launch-options",), skip=("early-return",))
    assert rules == tuple(
        s for s in load_profile("baseline").rules if s not in ("launch-options", "early-return")
    )
