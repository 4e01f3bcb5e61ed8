"""Declared operators: what a file may say, which entry they belong to, how arguments and references are made."""

from __future__ import annotations

import sys
from pathlib import Path, PurePosixPath

import pytest
import torch

from tritonport.declared import Declared, compiled, concerns, declared_for, read_declared, size_of
from tritonport.errors import UserError
from tritonport.resources import corpus_root
from tritonport.sources.tree import SourceTree
from tritonport.verify.cases import CaseSet, case_set_for
from tritonport.verify.child.declared import DRAWS, DeclaredUnit
from tritonport.verify.child.unit import NotHereError
from tritonport.verify.messages import pack_unit, unpack_unit
from tritonport.verify.tolerance import ToleranceSpec

FILES = sorted(corpus_root().glob("*/operators/*.toml"))

FILE = """
[default]
sizes = { B = 2, T = 3, K = 4 }
tensors = { q = ["data", "B", "T", "K"], g = ["gate", "B*T"] }
values = { scale = 2.0, other = 1 }
[operators.double]
call = ["own_operator:newer", "own_operator:double"]
reference = ["own_operator:plain"]
outputs = ["o"]
[[case]]
name = "small"
operator = "double"
sizes = { T = 5 }
real = { T = 7 }
"""

MODULE = """
import torch
def double(q, g, scale=1.0):
    assert q.dtype is torch.bfloat16 and g.dtype is torch.float32
    return (q.float() * scale + g.view(q.shape[:2])[..., None]).to(q.dtype)
def plain(q, g, scale=1.0):
    assert q.float().dtype is torch.float64 and q.to(torch.float32).dtype is torch.float64
    return q.float() * scale + g.view(q.shape[:2])[..., None]
"""


def read(tmp_path: Path, text: str = FILE) -> tuple[Declared, ...]:
    file = tmp_path / "own.toml"
    file.write_text(text)
    return read_declared(file)


@pytest.mark.parametrize("file", FILES, ids=lambda file: file.stem)
def test_every_file_of_the_corpus_reads(file: Path) -> None:
    cases = read_declared(file)
    assert cases
    for case in cases:
        words = {how.partition(" ")[0] for how in case.draws.values()}
        assert words <= {*DRAWS, "below"}, case.id
        assert case.cu_seqlens is None or case.cu_seqlens[-1] == case.sizes["T"], case.id
        real = compiled(case)
        assert real is None or real["cu_seqlens"] is None or real["cu_seqlens"][-1] == real["sizes"]["T"], (
            case.id
        )


def test_no_two_cases_have_one_name() -> None:
    names = [case.id for file in FILES for case in read_declared(file)]
    assert len(names) == len(set(names))


def test_a_case_changes_only_what_it_names(tmp_path: Path) -> None:
    (case,) = read(tmp_path)
    assert case.sizes == {"B": 2, "T": 5, "K": 4}
    assert case.tensors["q"] == ("data", "B", "T", "K")
    assert size_of("B*T*2", case.sizes) == 20
    real = compiled(case)
    assert real is not None and real["sizes"] == {"B": 2, "T": 7, "K": 4}
    assert compiled(read(tmp_path, FILE.replace("real = { T = 7 }", ""))[0]) is None


@pytest.mark.parametrize(
    ("old", "new", "message"),
    [
        ('operator = "double"', 'operator = "triple"', "case small names no operator"),
        ("sizes = { T = 5 }", "size = { T = 5 }", "case small: unknown member 'size'"),
        ('"B", "T", "K"]', '"B", "X", "K"]', "case small: 'X'"),
    ],
)
def test_what_is_wrong_in_a_file_is_named(tmp_path: Path, old: str, new: str, message: str) -> None:
    with pytest.raises(UserError, match=message):
        read(tmp_path, FILE.replace(old, new))


def test_a_case_travels_to_a_worker_whole(tmp_path: Path) -> None:
    (case,) = read(tmp_path)
    assert pack_unit(unpack_unit(pack_unit(case))) == pack_unit(case)
    assert isinstance(unpack_unit(pack_unit(case)), Declared)


@pytest.fixture
def unit(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> DeclaredUnit:
    (tmp_path / "own_operator.py").write_text(MODULE)
    monkeypatch.syspath_prepend(str(tmp_path))
    monkeypatch.setitem(sys.modules, "own_operator", None)
    del sys.modules["own_operator"]
    spec = ToleranceSpec(stages={"bf16": 1, "fp32": 1})
    return DeclaredUnit(read(tmp_path)[0], spec)


def test_outputs_gradients_and_the_reference_in_float64(unit: DeclaredUnit) -> None:
    values = unit.inputs()
    assert values.keys() == {"q", "g", "scale"}  # `other` is no parameter of it
    outputs, reference = unit.run(values), unit.reference(values)
    assert reference is not None and outputs.keys() == reference.keys() == {"o", "dq", "dg"}
    assert reference["dq"].dtype is torch.float64
    for name, out in outputs.items():
        error = (out.double() - reference[name]).norm() / reference[name].norm()
        assert error <= unit.tolerance(name, out).relative
    assert torch.equal(values["q"], unit.inputs()["q"])


def test_what_a_release_lacks_skips_the_case(tmp_path: Path, unit: DeclaredUnit) -> None:
    needs = FILE.replace("real =", 'requires = ["g_gamma"]\nreal =')
    with pytest.raises(NotHereError, match="takes no g_gamma"):
        DeclaredUnit(read(tmp_path, needs)[0], ToleranceSpec()).inputs()
    with pytest.raises(NotHereError, match="no own_operator:newer or own_operator:other"):
        DeclaredUnit(read(tmp_path, FILE.replace("r:double", "r:other"))[0], ToleranceSpec())


def package(root: Path) -> Path:
    for module in (
        "ops/simple_gla/parallel",
        "ops/gated_delta_rule/chunk",
        "modules/rotary/ops",
        "ops/common/gate",
    ):
        file = (root / "fla" / module).with_suffix(".py")
        file.parent.mkdir(parents=True, exist_ok=True)
        file.touch()
        (file.parent / "__init__.py").touch()
    return root


def test_an_entry_gets_the_operators_that_it_is_about(tmp_path: Path) -> None:
    root = package(tmp_path)

    def operators(entry: str) -> set[str]:
        return {case.operator for case in declared_for(SourceTree(root, "fla", PurePosixPath(entry)))}

    def cases(entry: str) -> CaseSet:
        found = case_set_for(SourceTree(root, "fla", PurePosixPath(entry)))
        assert found is not None
        return found

    assert "rotary" in operators("fla") and "simple_gla_chunk" in operators("fla")
    assert "rotary" not in operators("fla/ops")
    assert "simple_gla_chunk" in operators("fla/ops/simple_gla/parallel.py")
    assert operators("fla/modules/rotary") == {"rotary"}
    assert operators("fla/ops/gated_delta_rule") == set()
    assert cases("fla/ops/gated_delta_rule").cases and cases("fla").cases and cases("fla/ops/common").cases
    assert not cases("fla/ops/simple_gla").cases and cases("fla/ops/simple_gla").declared


def test_a_module_that_a_release_lacks_concerns_no_entry(tmp_path: Path) -> None:
    source = SourceTree(package(tmp_path), "fla", PurePosixPath("fla"))
    assert concerns(source, "fla.modules.rotary.ops")
    assert not concerns(source, "fla.modules.rotary.other")
