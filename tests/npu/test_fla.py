"""The figures of fla-core's kernels, measured by hand before this tool existed, and that they repeat."""

from __future__ import annotations

import json
import os
import subprocess
from dataclasses import replace

import pytest

from tests.support.migrated import migrate
from tritonport.npu.capture import WORKER, capture
from tritonport.npu.cases import cases_for
from tritonport.npu.tier import choose_target, run_npu_compile
from tritonport.npu.toolchain import clean_environment
from tritonport.sources import resolve

pytestmark = [pytest.mark.network, pytest.mark.usefixtures("toolchain")]

# UB per cent, scalar iterations, split; triton-ascend 3.2.0, ascendnpu-ir 1.2.0, Ascend910B3; K=V=128, H=8,
# T=2048, bf16. From runs of another program over the same compiler (November 2026), less one iteration of the
# forward state and of the recurrent kernel: that program counted single numbers in loops of unknown length too.
FIGURES = {
    "l2norm_fwd_kernel": (6.4, 0, "none"),
    "l2norm_bwd_kernel": (9.8, 0, "none"),
    "chunk_local_cumsum_scalar_kernel": (2.2, 63, "none"),
    "chunk_scaled_dot_kkt_fwd_kernel": (81.5, 4224, "guarded"),
    "merge_16x16_to_64x64_inverse_kernel": (15.3, 128, "tiled"),
    "chunk_gated_delta_rule_fwd_kkt_solve_kernel": (41.4, 256, "tiled"),
    "recompute_w_u_fwd_kernel": (15.3, 0, "tiled"),
    "chunk_gated_delta_rule_fwd_kernel_h_blockdim64": (88.3, 128, "guarded"),
    "chunk_fwd_kernel_o": (142.0, None, None),
    "chunk_bwd_kernel_dv_local": (91.1, 4224, "guarded"),
    "chunk_gated_delta_rule_bwd_kernel_dhu_blockdim64": (99.2, 128, "guarded"),
    "chunk_bwd_kernel_dqkwg": (98.6, 4292, "guarded"),
    "prepare_wy_repr_bwd_kernel": (311.5, None, None),
    "fused_recurrent_gated_delta_rule_fwd_kernel": (22.0, 0, "none"),
}
CASES = ("dense-128", "parts-128", "recurrent-128")


def run(source, cases=CASES):
    return run_npu_compile(
        source=source, out=None, cases=cases, target="a2", jobs=2, toolchain=None, progress=lambda *_: None
    )


def test_the_originals_of_0_6_0(fla_tree):
    report = run(fla_tree("0.6.0"))
    found = {
        name.partition(":")[2]: case["before"]
        for name, entry in report.kernels.items()
        for case in entry["cases"]
    }
    assert set(found) == set(FIGURES)
    for name, (percent, scalar, split) in FIGURES.items():
        figures = found[name]
        assert figures["ub_percent"] == pytest.approx(percent, abs=1.0), name
        assert (figures["scalar_iterations"], figures["sub_block"]) == (scalar, split), name
        assert figures["fits"] is (percent <= 100), name


NPU_IMPORT = """
import sys
import npu_stubs
npu_stubs.install(npu_stubs.Device("Ascend910B3", 20, 40))
import activate
import fla.modules, fla.ops, fla.utils
from fla.modules.rotary import ops
assert fla.utils.IS_NPU
assert ops.__file__.startswith(sys.argv[1])
"""


def test_a_migrated_tree_is_imported_beside_the_hand_ports_of_an_npu(toolchain, tmp_path):
    """There upstream imports its own Ascend kernels, which register themselves for the functions that they replace."""
    tree, out = resolve("fla.modules.rotary", from_spec="fla-core==0.6.0"), tmp_path / "out"
    migrate(tree, out)
    path = os.pathsep.join(map(str, (WORKER, out, tree.root)))
    environment = {**clean_environment(), "PYTHONPATH": path, "PYTHONDONTWRITEBYTECODE": "1"}
    assert "FLA_DISABLE_BACKEND_DISPATCH" not in environment
    command = [str(toolchain.python), "-c", NPU_IMPORT, str(out)]
    done = subprocess.run(command, capture_output=True, text=True, check=False, env=environment)
    assert done.returncode == 0, done.stderr


@pytest.mark.slow
def test_two_runs_give_the_same_bytes(fla_tree, tmp_path, monkeypatch):
    runs = []
    for name in ("first", "second"):
        monkeypatch.setattr("tritonport.npu.cache.cache_folder", lambda name=name: tmp_path / name)
        report = run(fla_tree("0.6.0"), cases=None)
        measured = {
            str(key): [replace(m, seconds=0.0).to_json() for m in detail.measurements]
            for key, detail in report.details.items()
        }
        runs.append(json.dumps(measured, sort_keys=True))
    assert runs[0] == runs[1]


@pytest.mark.parametrize("version", ["0.3.2", "0.4.1", "0.5.1"])
def test_cases_are_captured_from_releases_with_other_signatures(fla_tree, toolchain, version):
    source = fla_tree(version)
    _, device = choose_target("a2")
    captured = capture(toolchain, device, source, None, cases_for(source, ["dense-128", "decode-128"]))
    dense, decode = captured.cases
    assert dense.error is None
    assert decode.error is None
    assert captured.broken == {}
    names = [launch.kernel.partition(":")[2] for launch in dense.launches]
    for part in ("fwd_kernel_h", "fwd_kernel_o", "bwd_kernel_dv_local", "bwd_kernel_dhu", "dqkwg", "cumsum"):
        assert any(part in name for name in names), part
    assert len(decode.launches) == 1
    assert all(unit.ttir.startswith(("module", "#loc")) for unit in captured.units.values())
    assert all("/site-packages/" not in unit.ttir for unit in captured.units.values())


def test_a_narrower_entry_is_asked_about_its_own_kernels_alone():
    source = resolve("fla.modules.norm.l2norm", from_spec="fla-core==0.6.0")
    found = {name.partition(":")[0] for name in run(source, cases=("l2norm-rows",)).kernels}
    assert found == {"fla.modules.norm.l2norm"}
