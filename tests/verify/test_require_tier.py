"""A tier that did not run is not-run: harmless alone, a failure under --require-tier."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from tests.support.cli import KERNEL, in_process, package

torch = pytest.importorskip("torch")
pytestmark = pytest.mark.skipif(torch.cuda.is_available(), reason="there is a CUDA device here")


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    root = tmp_path_factory.mktemp("require")
    package(root / "mine", rows=KERNEL)
    assert in_process("migrate", "mine", "-o", "out", cwd=root).returncode == 0
    return root


@pytest.mark.parametrize("tier", ["gpu", "npu-run"])
def test_a_tier_that_did_not_run_fails_only_where_it_is_required(folder: Path, tier: str) -> None:
    plain = in_process("verify", "out", "mine", "--tier", tier, "--report", "json=run.json", cwd=folder)
    assert plain.returncode == 0, plain.stderr
    assert f"{tier}: not run: " in plain.stderr
    record = json.loads((folder / "run.json").read_text())
    assert {kernel["tiers"][tier] for kernel in record["kernels"]} == {"not-run"}
    assert record[tier]["result"] == "not-run" and record[tier]["why"]
    required = in_process("verify", "out", "mine", "--tier", tier, "--require-tier", cwd=folder)
    assert required.returncode == 1
    assert f"{tier}: not run: " in required.stderr


def test_one_tier_that_ran_excuses_no_other(folder: Path) -> None:
    both = in_process("verify", "out", "mine", "--tier", "parse,gpu", "--require-tier", cwd=folder)
    assert both.returncode == 1
    assert (
        in_process("verify", "out", "mine", "--tier", "parse", "--require-tier", cwd=folder).returncode == 0
    )


def test_a_kernel_that_no_case_launches_fails_where_it_is_required(folder: Path) -> None:
    (folder / "case.py").write_text(
        "import torch\n\ndef make_inputs(device):\n    return {'x': torch.ones(3)}\n\n"
        "def launch(x):\n    return x + 1\n"
    )
    arguments = ("verify", "out", "mine", "--tier", "interpret", "--cases", "case.py")
    assert in_process(*arguments, "--require-tier", cwd=folder).returncode == 1


def test_goldens_and_devices_are_for_the_tiers_that_take_them(folder: Path) -> None:
    wrong = in_process("verify", "out", "mine", "--tier", "hazard", "--replay", "g", cwd=folder)
    assert wrong.returncode == 2 and "tier hazard replays no goldens" in wrong.stderr
    wrong = in_process("verify", "out", "mine", "--tier", "gpu", "--device", "npu", cwd=folder)
    assert wrong.returncode == 2 and "--device npu is for tier npu-run" in wrong.stderr
    wrong = in_process("verify", "out", "mine", "--record", "g", "--device", "cuda", cwd=folder)
    assert wrong.returncode == 2 and not (folder / "g").exists()
