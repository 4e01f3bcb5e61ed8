"""tile-enlarge: its examples, what it refuses, how limits are written, and that results stay."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path, PurePosixPath
from typing import Any

import pytest

from tritonport.discover import analyse
from tritonport.emit.tree import runtime_text
from tritonport.engine.choices import KernelChoice, TileLimit
from tritonport.engine.context import Settings
from tritonport.engine.gates import comments
from tritonport.engine.pipeline import FileResult, run_file
from tritonport.facts.programs import plan_programs
from tritonport.passes import all_rules
from tritonport.resources import rules_root
from tritonport.sources.tree import SourceTree

EXAMPLES = rules_root() / "catalog" / "tile-enlarge" / "examples"
HEAD = "import torch\nimport triton\nimport triton.language as tl\n\n\n"
KERNEL = """@triton.jit
def add_up(x, y, part, D, N: tl.constexpr, BD: tl.constexpr):
    i_d = tl.program_id(0)
    o_d = i_d * BD + tl.arange(0, BD)
    b_x = tl.load(x + o_d, mask=o_d < D, other=0.0)
    tl.store(y + o_d, b_x + N, mask=o_d < D)
    tl.store(part + i_d, tl.sum(b_x, 0))


"""


def run(
    path: Path, choices: Mapping[str, KernelChoice] | None = None, slug: str = "tile-enlarge"
) -> FileResult:
    analysis = analyse(SourceTree(path.parent, None, PurePosixPath(path.name)))
    (module,) = analysis.index.modules.values()
    settings = Settings(choices=dict(choices or {}))
    return run_file(module, analysis, plan_programs(analysis), settings, [all_rules()[slug]])


def written(folder: Path, host: str, kernel: str = KERNEL) -> Path:
    path = folder / "sums.py"
    path.write_text(HEAD + kernel + host, encoding="utf-8")
    return path


def chosen(**limit: Any) -> dict[str, KernelChoice]:
    return {"sums:add_up": KernelChoice((TileLimit("BD", **limit),), source="a test")}


HOST = """def launch(x, y):
    D = x.numel()
    BD = 32
    ND = triton.cdiv(D, BD)
    part = x.new_empty(ND)
    add_up[(ND,)](x, y, part, D, 1, BD)
    return part.sum(0)
"""


@pytest.mark.parametrize("path", sorted(EXAMPLES.glob("*.in.py")), ids=lambda path: path.name)
def test_rewrites(path: Path) -> None:
    result = run(path)
    assert result.text == path.with_name(path.name.replace(".in.py", ".out.py")).read_text(encoding="utf-8")
    assert not comments(path.read_text(encoding="utf-8")) - comments(result.text)
    ((_, note),) = result.notes
    assert "estimated, not measured" in note


@pytest.mark.parametrize("path", sorted(EXAMPLES.glob("*.noop.py")), ids=lambda path: path.name)
def test_leaves_alone(path: Path) -> None:
    assert not run(path).changed


@pytest.mark.parametrize("path", sorted(EXAMPLES.glob("*.out.py")), ids=lambda path: path.name)
def test_a_second_run_changes_nothing(path: Path) -> None:
    assert not run(path).changed


def test_a_limit_for_wide_elements_and_for_what_else_grows(tmp_path: Path) -> None:
    result = run(written(tmp_path, HOST), chosen(limit=256, wide=128, data="x", beside={"N": 1}))
    assert "    BD = tile(D, 256 if x.element_size() <= 2 else 128)\n" in result.text
    assert result.notes == (("sums:add_up", "tiles BD=256: a test"),)
    assert result.classes == {("sums:add_up", "tile-enlarge"): "reordered"}


def test_what_the_same_statement_assigns_is_spelled_out(tmp_path: Path) -> None:
    """`N` has no value yet where `BD` is chosen beside it."""
    host = HOST.replace(
        "    BD = 32\n", "    N, BD = triton.next_power_of_2(D), min(triton.next_power_of_2(D), 8)\n"
    )
    host = host.replace("D, 1, BD)", "D, N, BD)")
    result = run(written(tmp_path, host), chosen(limit=64, beside={"N": 128}))
    line = "    N, BD = triton.next_power_of_2(D), tile(D, 64, (triton.next_power_of_2(D), 128))\n"
    assert line in result.text


def test_every_value_of_the_name_is_replaced(tmp_path: Path) -> None:
    host = HOST.replace("    BD = 32\n", "    if D > 4096:\n        BD = 64\n    else:\n        BD = 32\n")
    result = run(written(tmp_path, host), chosen(limit=128))
    assert result.text.count("BD = tile(D, 128)") == 2
    assert result.counts == {("sums:add_up", "tile-enlarge"): 1}


@pytest.mark.parametrize(
    ("old", "new", "why"),
    [
        ("    BD = 32\n", "    BD = x.shape[-1]\n", "more than a choice"),
        ("(x, y):\n", "(x, y, BD):\n", "comes from the caller"),
        ("return part.sum(0)", "return part", "leaves the function"),
        ("D, 1, BD)", "D, 1, 32)", "no local name"),
        ("x.new_empty(ND)", "x.new_empty(99)", "made elsewhere"),
        ("    BD = 32\n", "    BD = 32\n    BD *= 2\n", "step by step"),
    ],
    ids=lambda text: text.strip() if isinstance(text, str) else None,
)
def test_what_may_not_be_changed_is_unresolved_with_the_reason(
    tmp_path: Path, old: str, new: str, why: str
) -> None:
    host = HOST.replace(old, new)
    if "caller" in why:
        host = host.replace("    BD = 32\n", "")
    result = run(written(tmp_path, host), chosen(limit=128))
    assert not result.changed
    ((kernel, item),) = result.unresolved
    assert kernel == "sums:add_up"
    assert why in item.why


@pytest.mark.parametrize("use", ["o_d * BD", "i_d * BD", "N // BD", "BD > 16"])
def test_a_parameter_with_another_use_is_no_tile(tmp_path: Path, use: str) -> None:
    kernel = KERNEL.replace("b_x + N", f"b_x + ({use})")
    assert not run(written(tmp_path, HOST, kernel), chosen(limit=128)).changed


def test_a_kernel_that_scans_its_tile_keeps_the_hosts_choice(tmp_path: Path) -> None:
    kernel = KERNEL.replace("b_x + N", "tl.cumsum(b_x, 0) + N")
    result = run(written(tmp_path, HOST, kernel), chosen(limit=128))
    assert not result.changed
    assert "scans" in result.unresolved[0][1].why


def test_a_name_that_two_kernels_take_needs_one_size_for_both(tmp_path: Path) -> None:
    second = KERNEL.replace("add_up", "add_more")
    host = HOST.replace("    return", "    add_more[(ND,)](x, y, part, D, 1, BD)\n    return")
    path = written(tmp_path, host, KERNEL + second)
    apart = {**chosen(limit=128), "sums:add_more": KernelChoice((TileLimit("BD", 64),))}
    assert not run(path, apart).changed
    alike = {**chosen(limit=128), "sums:add_more": KernelChoice((TileLimit("BD", 128),))}
    assert run(path, alike).text.count("tile(D, 128)") == 1


def test_chosen_options_are_passed_on_the_target_only(tmp_path: Path) -> None:
    path = written(tmp_path, HOST.replace("D, 1, BD)", "D, 1, BD, num_warps=4)"))
    options = (("limit_auto_multi_buffer_only_for_local_buffer", True),)
    result = run(path, {"sums:add_up": KernelChoice(options=options)}, "launch-options")
    given = "**npu_only(limit_auto_multi_buffer_only_for_local_buffer=True))"
    assert f"D, 1, BD, **gpu_only(num_warps=4), {given}\n" in result.text
    assert "import gpu_only, npu_only" in result.text
    assert "npu_only" not in run(path, {}, "launch-options").text


def test_a_rule_that_a_kernel_goes_without_does_not_see_it(tmp_path: Path) -> None:
    off = {"sums:add_up": KernelChoice((TileLimit("BD", 128),), frozenset({"tile-enlarge"}))}
    assert not run(written(tmp_path, HOST), off).changed


@pytest.mark.parametrize(
    ("arguments", "size"),
    [
        ((128, 64), 64),
        ((100, 512), 128),
        ((1, 64), 16),
        ((0, 64), 16),
        ((128, 8), 8),
        ((128, 128, (256, 128)), 64),
        ((128, 128, (129, 128)), 64),
        ((128, 128, (64, 128)), 128),
        ((128, 32, (4096, 128)), 16),
    ],
)
def test_tile(arguments: tuple[Any, ...], size: int) -> None:
    scope: dict[str, Any] = {"__name__": "tritonport_runtime"}
    exec(runtime_text(), scope)
    assert scope["tile"](*arguments) == size


def test_configurations_without_tiles_are_each_there_once() -> None:
    Config = pytest.importorskip("triton").Config
    scope: dict[str, Any] = {"__name__": "tritonport_runtime"}
    exec(runtime_text(), scope)
    given = [Config({"BD": size, "S": 1}, num_warps=warps) for size in (32, 64) for warps in (2, 4)]
    left = scope["without_tiles"](given, "BD")
    assert [(config.kwargs, config.num_warps) for config in left] == [({"S": 1}, 2), ({"S": 1}, 4)]
    assert given[0].kwargs == {"BD": 32, "S": 1}
