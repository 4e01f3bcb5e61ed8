"""Layers around the operators: which of them run, and that migrated kernels give what the originals give."""

from __future__ import annotations

import importlib.util
import shutil
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path, PurePosixPath

import pytest

from tests.support import releases
from tests.support.migrated import migrate
from tritonport.migrate import MigrateResult
from tritonport.sources import SourceTree, resolve
from tritonport.verify.cases import CaseSet
from tritonport.verify.device.settings import DeviceSetup
from tritonport.verify.device.tier import run_gpu
from tritonport.verify.model import TierReport
from tritonport.verify.output import targets_of
from tritonport.verify.scripts import layers_for
from tritonport.verify.tier import run_interpret

RELEASE = "0.6.0"
OPERATORS = PurePosixPath("fla/ops/gated_delta_rule")
LAYER = PurePosixPath("fla/layers/gated_deltanet.py")


@pytest.fixture(scope="module")
def library(fla_tree: Callable[[str], SourceTree], tmp_path_factory: pytest.TempPathFactory) -> SourceTree:
    """Operators and layers in one folder, as pip installs the two distributions."""
    core = fla_tree(RELEASE)
    layers = resolve("fla.layers", from_spec=f"flash-linear-attention=={RELEASE}")
    root = tmp_path_factory.mktemp("library")
    for tree in (core, layers):
        shutil.copytree(tree.root, root, dirs_exist_ok=True)
    return replace(core, root=root)


def ids(source: SourceTree, entry: PurePosixPath, *, full: bool = False) -> set[str]:
    return {script.id for script in layers_for(replace(source, entry=entry), full=full)}


def test_a_layer_runs_where_the_entry_is_about_it_and_in_the_long_matrix(library: SourceTree) -> None:
    own = {"layer-training", "layer-decoding"}
    assert ids(library, OPERATORS) == set()
    assert ids(library, LAYER) == ids(library, PurePosixPath("fla/layers")) == own
    other = {f"{family}-{mode}" for family in ("qwen3-next", "qwen3.5") for mode in ("training", "decoding")}
    installed = importlib.util.find_spec("transformers") is not None
    assert ids(library, OPERATORS, full=True) == own | (other if installed else set())


def test_sources_without_layers_have_none(fla_tree: Callable[[str], SourceTree]) -> None:
    assert not {name for name in ids(fla_tree(RELEASE), OPERATORS, full=True) if name.startswith("layer-")}


def proved(library: SourceTree, entry: PurePosixPath, result: MigrateResult, *wanted: str) -> TierReport:
    source = replace(library, entry=entry)
    layers = {script.id: script for script in layers_for(source, full=True)}
    return run_interpret(
        source=source,
        out=result.out,
        kernels=targets_of(result.record.kernels),
        cases=CaseSet(scripts=tuple(layers[name] for name in wanted)),
        jobs=1,
        progress=lambda *_: None,
    )


def assert_same(report: TierReport) -> None:
    """Every kernel that ran is the migrated one, and every number is the original's, bit for bit."""
    assert report.result == "pass", [(k.name, k.reasons) for k in report.kernels if k.result == "fail"]
    assert all(case.outcome == "pass" for case in report.cases)
    for case in report.cases:
        whole = [check for check in case.checks if check.against == "original"]
        assert whole and all(check.bitwise for check in whole)
        assert any(check.against == "reference" for check in case.checks)


def test_prefill_and_decoding_through_migrated_operators(
    library: SourceTree, fla_tree: Callable[[str], SourceTree]
) -> None:
    """The way of the tiers with a device, without one: each call once, on one number of cores."""
    result = releases.migrated(fla_tree(RELEASE))
    (script,) = (script for script in layers_for(library, full=True) if script.id == "layer-decoding")
    report = run_gpu(
        source=library,
        out=result.out,
        kernels=targets_of(result.record.kernels),
        cases=CaseSet(scripts=(script,)),
        progress=lambda *_: None,
        settings=DeviceSetup("interpreter", repeats=1),
    )
    assert_same(report)
    names = {kernel.name.rpartition(":")[2] for kernel in report.kernels if kernel.result == "pass"}
    assert {"chunk_fwd_kernel_o", "fused_recurrent_gated_delta_rule_fwd_kernel"} <= names


@pytest.mark.slow
def test_a_layer_as_the_entry_takes_convolution_and_norm_along(library: SourceTree, tmp_path: Path) -> None:
    result = migrate(replace(library, entry=LAYER), tmp_path / "out")
    report = proved(library, LAYER, result, "layer-training", "layer-decoding")
    assert_same(report)
    ran = {name for case in report.cases for name in case.after}
    assert ran <= {kernel.name for kernel in report.kernels if kernel.result == "pass"}


@pytest.mark.slow
@pytest.mark.parametrize("family", ["qwen3-next", "qwen3.5"])
def test_a_model_of_transformers(
    library: SourceTree, fla_tree: Callable[[str], SourceTree], family: str
) -> None:
    pytest.importorskip("transformers")
    result = releases.migrated(fla_tree(RELEASE))
    assert_same(proved(library, OPERATORS, result, f"{family}-training", f"{family}-decoding"))
