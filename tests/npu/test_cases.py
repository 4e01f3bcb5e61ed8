"""Declared cases, and how a host function gets what its signature names."""

from __future__ import annotations

import sys
from pathlib import Path, PurePosixPath

import pytest

import tritonport.npu
from tritonport.errors import UserError
from tritonport.npu.cases import cases_for, read_cases
from tritonport.resources import corpus_root
from tritonport.sources.tree import SourceTree

FLA = SourceTree(Path("/nowhere"), "fla", PurePosixPath("fla/ops/gated_delta_rule"))


@pytest.fixture
def worker(monkeypatch):
    monkeypatch.syspath_prepend(str(Path(tritonport.npu.__file__).parent / "worker"))
    import npu_cases

    yield npu_cases
    sys.modules.pop("npu_cases", None)


def by_name(cases):
    return {case["name"]: case for case in cases}


def test_a_case_changes_only_what_it_names():
    cases = by_name(read_cases(corpus_root() / "fla_gdn" / "npu_cases.toml"))
    dense, grouped = cases["dense-128"], cases["grouped-128"]
    assert dense["sizes"] == {"B": 1, "T": 2048, "H": 8, "HV": 8, "K": 128, "V": 128, "BT": 64, "N": 1}
    assert grouped["sizes"] == {**dense["sizes"], "HV": 16}
    assert grouped["tensors"] == dense["tensors"]
    assert dense["backward"]
    assert not cases["decode-128"]["backward"]
    assert len(cases) == len(read_cases(corpus_root() / "fla_gdn" / "npu_cases.toml")), "a name twice"


def test_cases_of_a_package_and_by_name():
    assert [case["name"] for case in cases_for(FLA, ["dense-64", "dense-128"])] == ["dense-128", "dense-64"]
    with pytest.raises(UserError, match="no npu-compile case named dense-9"):
        cases_for(FLA, ["dense-9"])


def test_an_operator_that_is_not_declared(tmp_path):
    file = tmp_path / "npu_cases.toml"
    file.write_text('[default]\noperator = "x"\n[operators]\n[[case]]\nname = "a"\n')
    with pytest.raises(UserError, match="no operator or function list named 'x'"):
        read_cases(file)


def test_a_file_of_its_own_is_one_case(tmp_path):
    source = SourceTree(tmp_path, None, PurePosixPath("03_odd name.py"))
    (tmp_path / "03_odd name.py").write_text("")
    (case,) = cases_for(source, None)
    assert (case["kind"], case["name"], case["module"]) == ("module", "03_odd name", None)


def test_a_file_that_fails_to_import_says_why_each_time(worker, tmp_path):
    (tmp_path / "03_odd name.py").write_text("START = 1\nimport no_such_module\n")
    for _ in range(2):
        with pytest.raises(ModuleNotFoundError, match="no_such_module"):
            worker.module_inputs(str(tmp_path / "03_odd name.py"))


def test_tensors_have_the_declared_sizes_and_types(worker):
    cases = by_name(read_cases(corpus_root() / "fla_gdn" / "npu_cases.toml"))
    made = worker.make_arguments(cases["grouped-128"], grad=True)
    assert tuple(made["q"].shape) == (1, 2048, 8, 128)
    assert tuple(made["beta"].shape) == (1, 2048, 16)
    assert str(made["q"].dtype) == "torch.bfloat16"
    assert str(made["g"].dtype) == "torch.float32"
    assert made["g"].requires_grad
    varlen = worker.make_arguments(cases["varlen-128"], grad=False)
    assert varlen["cu_seqlens"].tolist() == [0, 700, 1600, 2048]
    assert tuple(varlen["initial_state"].shape) == (3, 8, 128, 128)


def test_products_of_sizes(worker):
    assert worker._size("B*T*3", {"B": 2, "T": 5}) == 30
    assert worker._size(7, {}) == 7


def test_a_function_gets_what_it_names_and_no_more(worker):
    def host(q, k, *, scale=None, **rest):
        return q, k, scale, rest

    assert worker.accepted(host, {"q": 1, "k": 2, "beta": 3}) == {"q": 1, "k": 2}
    with pytest.raises(TypeError, match="host needs k"):
        worker.accepted(host, {"q": 1})
