"""Tuning files: what they say, whom they concern, and that a renamed kernel is the same kernel."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path, PurePosixPath

import pytest

from tritonport.discover import Analysis, analyse
from tritonport.engine.choices import KernelChoice, TileLimit
from tritonport.errors import UserError
from tritonport.facts.structure import Structures
from tritonport.migrate import MigrateOptions, migrate_tree
from tritonport.sources.tree import SourceTree
from tritonport.tuning import (
    TileEntry,
    TuningEntry,
    choices_for,
    load_tuning,
    merged,
    shipped_tuning,
    tuning_text,
)

SOURCE = '''import torch
import triton
import triton.language as tl


@triton.jit
def doubled(value, times: tl.constexpr):
    return value * times


@triton.jit
def scale(x, y, D, S: tl.constexpr, BD: tl.constexpr):
    """Scales."""
    o_d = tl.program_id(0) * BD + tl.arange(0, BD)
    b_x = tl.load(x + o_d, mask=o_d < D, other=0.0)  # rows
    tl.store(y + o_d, doubled(b_x, times=2) * S, mask=o_d < D)


def launch(x):
    y = torch.empty_like(x)
    D = x.numel()
    BD = 32
    scale[(triton.cdiv(D, BD),)](x, y, D, 3, BD)
    return y
'''
RENAMED = (
    SOURCE.replace("o_d", "rows").replace("b_x", "held").replace("BD", "TILE").replace("scale", "grow")
    .replace("doubled", "twice").replace("value", "it").replace("times", "n").replace('    """Scales."""\n', "")
    .replace("  # rows", "")
)  # fmt: skip


def read(folder: Path, text: str) -> tuple[SourceTree, Analysis]:
    (folder / "scaling.py").write_text(text, encoding="utf-8")
    tree = SourceTree(folder, None, PurePosixPath("scaling.py"))
    return tree, analyse(tree)


def structure(folder: Path, text: str, kernel: str) -> str:
    return Structures(read(folder, text)[1]).of(f"scaling:{kernel}")


def entry(digest: str, limit: int = 64, toolchain: str = "1.2.0", target: str = "a2") -> TuningEntry:
    tiles = (TileEntry(4, "BD", limit, wide=limit // 2, data=0, beside=((3, 128),)),)
    return TuningEntry(
        "scaling:scale", (digest,), target, toolchain, tiles, ("index-width",), {"c": '5 "%" UB'}
    )


def test_a_renamed_kernel_has_the_same_structure(tmp_path: Path) -> None:
    assert structure(tmp_path, SOURCE, "scale") == structure(tmp_path, RENAMED, "grow")


@pytest.mark.parametrize(
    ("old", "new"),
    [
        ("tl.load(x", "tl.load(y"),
        ("times=2", "times=4"),
        ("value * times", "value + times"),
        ("other=0.0", "other=1.0"),
        ("S: tl.constexpr", "S"),
        ("program_id(0)", "program_id(1)"),
    ],
)
def test_another_computation_has_another_structure(tmp_path: Path, old: str, new: str) -> None:
    changed = SOURCE.replace(old, new)
    assert changed != SOURCE
    assert structure(tmp_path, SOURCE, "scale") != structure(tmp_path, changed, "scale")


def test_what_is_written_is_read_again(tmp_path: Path) -> None:
    entries = [entry("sha256:aa"), entry("sha256:bb", limit=32)]
    path = tmp_path / "t.toml"
    path.write_text(tuning_text(entries, "two\nlines"), encoding="utf-8")
    assert path.read_text(encoding="utf-8").startswith("# two\n# lines\n")
    assert [replace(found, file="") for found in load_tuning(path)] == entries


def test_the_last_entry_for_a_kernel_counts() -> None:
    old, new = entry("sha256:aa", limit=64), entry("sha256:aa", limit=32)
    other = entry("sha256:aa", limit=16, toolchain="1.1.0")
    assert merged([old, other, new]) == [other, new]


def test_choices_by_structure_target_and_toolchain(tmp_path: Path) -> None:
    digest = structure(tmp_path, SOURCE, "scale")
    entries = [
        entry(digest, limit=32, toolchain="1.1.0"),
        entry(digest, limit=128, toolchain="1.2.0"),
        entry(digest, limit=16, toolchain="1.10.0", target="a3"),
        entry("sha256:other", limit=256),
    ]
    _, analysis = read(tmp_path, RENAMED)
    found = choices_for(analysis, "a2", entries)["scaling:grow"]
    assert found.tiles == (TileLimit("TILE", 128, 64, "x", {"S": 128}),)
    assert found.off == {"index-width"}
    assert choices_for(analysis, "a2", entries, "1.1.0")["scaling:grow"].tiles[0].limit == 32
    assert choices_for(analysis, "a3", entries)["scaling:grow"].tiles[0].limit == 16
    assert choices_for(analysis, "a5", entries) == {}


@pytest.mark.parametrize(
    ("text", "why"),
    [
        ("", "not a tuning file"),
        ('schema = "tritonport.tuning/1"\n[[kernel]]\nname = "a:b"\n', "structure|toolchain"),
        (
            'schema = "tritonport.tuning/1"\n[[kernel]]\nname = "a:b"\nstructure = []\ntarget = "a2"\n'
            'toolchain = "1.2.0"\ntiles = [{ place = 1, parameter = "B", limit = 48 }]\n',
            "power of two",
        ),
    ],
)
def test_a_wrong_file_is_one_line_with_its_name(tmp_path: Path, text: str, why: str) -> None:
    path = tmp_path / "wrong.toml"
    path.write_text(text, encoding="utf-8")
    with pytest.raises(UserError, match=why) as error:
        load_tuning(path)
    assert str(path) in str(error.value)


def test_migrate_takes_the_tiles_and_says_where_they_come_from(tmp_path: Path) -> None:
    (tmp_path / "src").mkdir()
    tree, _ = read(tmp_path / "src", SOURCE)
    path = tmp_path / "mine.toml"
    path.write_text(tuning_text([entry(structure(tmp_path, SOURCE, "scale"))]), encoding="utf-8")
    options = MigrateOptions(rules=("tile-enlarge", "grid-collapse", "early-return"), tuning=path)
    result = migrate_tree(tree, tmp_path / "out", options, lambda *_: None)
    text = (tmp_path / "out" / "scaling.py").read_text(encoding="utf-8")
    assert "BD = tile(D, 64 if x.element_size() <= 2 else 32)" in text
    kernel = next(k for k in result.record.kernels if k.name == "scaling:scale")
    assert kernel.notes == (f"tiles BD=64: {path}, measured with ascendnpu-ir 1.2.0 for a2",)
    assert [(use.slug, use.rule_class) for use in kernel.rules if use.slug == "tile-enlarge"] == [
        ("tile-enlarge", "exact")
    ]


def test_a_choice_of_the_caller_is_taken_as_it_is(tmp_path: Path) -> None:
    (tmp_path / "src").mkdir()
    tree, _ = read(tmp_path / "src", SOURCE)
    choices = {"scaling:scale": KernelChoice((TileLimit("BD", 256),), source="here")}
    options = MigrateOptions(rules=("tile-enlarge", "grid-collapse"), choices=choices)
    migrate_tree(tree, tmp_path / "out", options, lambda *_: None)
    assert "BD = tile(D, 256)" in (tmp_path / "out" / "scaling.py").read_text(encoding="utf-8")


def test_what_comes_with_the_tool_can_be_read() -> None:
    entries = shipped_tuning()
    assert merged(entries) == sorted(entries, key=lambda e: (e.name, e.target, e.toolchain, e.structure))
    assert all(e.figures for e in entries)
