"""One small migration for all tests of reports, and the same record with results of every tier laid over it."""

from __future__ import annotations

import copy
import json
from dataclasses import asdict
from pathlib import Path
from typing import Any

import jsonschema
import pytest

from tests.support.cli import KERNEL, ODD_KERNEL, package, tritonport
from tritonport.npu.tier import LocatedMessage
from tritonport.report.run_json import run_schema
from tritonport.verify.model import CaseResult, Check, Finding, HostResult, KernelVerdict, TierReport

Run = dict[str, Any]
RETURNS = """\
import torch
import triton
import triton.language as tl


@triton.jit
def halve_rows(src, dst, size, TILE: tl.constexpr):
    row = tl.program_id(0)
    if row * TILE >= size:
        return
    at = row * TILE + tl.arange(0, TILE)
    tl.store(dst + at, tl.load(src + at, mask=at < size) / 2, mask=at < size)


def halve(src):
    dst = torch.empty_like(src)
    halve_rows[(triton.cdiv(src.numel(), 16), 1)](src, dst, src.numel(), TILE=16, num_warps=4)
    return dst
"""
"""A body that is indented as a whole, since its early return becomes a guard."""
WICKED = "<script>alert('a|b')</script> & `x`\n\x1b[31m%0A"
"""A message that must be shown as it is, whatever the report's format does with its signs."""


@pytest.fixture(scope="session")
def demo(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A folder with the package demo, its output in out/ and run.json: two kernels converted, one not."""
    root = tmp_path_factory.mktemp("reports")
    package(root / "demo", rows=KERNEL, odd=ODD_KERNEL, back=RETURNS)
    done = tritonport("migrate", "demo", "-o", "out", "--report", "json=run.json", cwd=root)
    assert done.returncode == 1, done.stderr
    return root


@pytest.fixture(scope="session")
def _record(demo: Path) -> Run:
    return json.loads((demo / "run.json").read_text())


@pytest.fixture
def record(_record: Run) -> Run:
    """The run.json of `demo`, free to be changed."""
    return copy.deepcopy(_record)


@pytest.fixture
def full(record: Run) -> Run:
    """The same with what the tiers say: one kernel passes, one fails everywhere."""
    for kernel in record["kernels"]:
        wrong = kernel["name"] == "demo.back:halve_rows"
        if kernel["outcome"] == "converted":
            result = "fail" if wrong else "pass"
            kernel["tiers"] |= {"interpret": result, "npu-compile": result}
            kernel["npu"] = [_npu(kernel["name"], over=wrong)]
    record["interpret"] = _interpret().to_json()
    record["kernels"][0]["suppressed"] = [
        {
            "slug": "refuse",
            "file": "demo/rows.py",
            "line": 9,
            "why": "an atomic result",
            "reason": "seen",
            "by": "ours.toml",
        }
    ]
    full = json.loads(json.dumps(record))
    jsonschema.validate(full, run_schema())
    return full


def _npu(kernel: str, *, over: bool) -> dict[str, Any]:
    figures = {
        "fits": not over,
        "ub_percent": 142.0 if over else 45.5,
        "l1_percent": 10.0,
        "l0c_percent": None,
        "scalar_iterations": 4224,
        "discrete_elements": 0,
        "sub_block": "tiled",
        "kernels": 1,
        "programs": 8,
        "seconds": 0.1,
        "error": "UB overflow" if over else None,
    }
    said = LocatedMessage(
        "after", kernel, "dense", "overflow", WICKED, "demo/back.py", 16, 9, ("early-return",)
    )
    return {
        "toolchain": {"triton_ascend": "3.2.0", "ascendnpu_ir": "1.2.0"},
        "target": "a2",
        "cases": [{"case": "dense", "before": {**figures, "ub_percent": 142.0}, "after": figures}],
        "messages": json.loads(json.dumps([asdict(said)])) if over else [],
    }


def _interpret() -> TierReport:
    exact = Check("dst", "original", True, True, 0.0, 0.0, 0.0, "all rules are exact")
    near = Check("dst", "reference", True, False, 3e-4, 2.0, 1e-3, "fp32, sums of 64")
    wrong = Check("dst", "original", False, False, 0.5, 9e6, 0.0, "all rules are exact", WICKED)
    hazard = Finding(
        "migrated", "uninitialised", "error", "demo.back:halve_rows", "/home/me/out/demo/back.py", 12
    )
    return TierReport(
        "interpret",
        "fail",
        None,
        (
            KernelVerdict("demo.rows:double_rows", "pass", bitwise=True),
            KernelVerdict("demo.back:halve_rows", "fail", (WICKED,)),
        ),
        (
            CaseResult("rows-64", "rows", "pass", None, 2, (exact, near)),
            CaseResult(
                "back-64",
                "back",
                "fail",
                None,
                3,
                (),
                (HostResult("demo.back:halve", ("demo.back:halve_rows",), (1, 3), (wrong,)),),
                findings=(hazard,),
            ),
            CaseResult("long", "rows", "skipped", "this release has no such parameter"),
        ),
    )
