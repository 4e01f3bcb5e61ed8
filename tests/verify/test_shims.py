"""The interpreter under the shims gives what torch gives. Without them bf16 is garbage on both sides of a
comparison."""

from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path

import pytest

PROBE = Path(__file__).with_name("shim_probe.py")


@pytest.fixture(scope="module")
def probe() -> dict[str, tuple[list[float], list[float]]]:
    done = subprocess.run([sys.executable, str(PROBE)], capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr
    return json.loads(done.stdout)


@pytest.mark.parametrize(
    "what", ["cast", "arithmetic", "sum", "max", "first configuration", "more values than names"]
)
def test_equal_to_torch_bit_for_bit(what: str, probe: dict[str, tuple[list[float], list[float]]]) -> None:
    got, want = probe[what]
    assert got == want


@pytest.mark.parametrize(
    "what",
    [
        "dot torch.bfloat16",
        "dot torch.float16",
        "cumsum",
        "loop variable, captured builtin",
        "dot of three halves",
    ],
)
def test_equal_to_float64_within_fp32(what: str, probe: dict[str, tuple[list[float], list[float]]]) -> None:
    got, want = probe[what]
    assert got == pytest.approx(want, rel=1e-5, abs=1e-5)


@pytest.mark.parametrize("shape", ["16x64", "32x64", "64x128"])
def test_bits_do_not_depend_on_the_layout_of_an_array(
    shape: str, probe: dict[str, tuple[list[float], list[float]]]
) -> None:
    loaded, transposed = probe[f"{shape} views"]
    assert loaded == transposed
