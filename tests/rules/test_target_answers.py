"""The run-time helpers that rules put into host code, on an NPU and elsewhere."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import pytest

from tritonport.emit.templates import tritonport_runtime as runtime


@pytest.fixture(params=[True, False], ids=["npu", "elsewhere"])
def npu(request: pytest.FixtureRequest, monkeypatch: pytest.MonkeyPatch) -> Iterator[bool]:
    monkeypatch.setattr(runtime, "on_npu", lambda: request.param)
    yield request.param


def test_a_question_is_asked_on_a_gpu_alone(npu: bool) -> None:
    asked: list[int] = []
    assert runtime.for_target(lambda: asked.append(1) or "asked", "told") == ("told" if npu else "asked")
    assert len(asked) == (0 if npu else 1)


@pytest.mark.parametrize(
    ("value", "there"),
    [
        ("tf32", "ieee"),
        ("TF32x3", "ieee"),
        ("ieee", "ieee"),
        ("hf32", "hf32"),
        (True, False),
        (False, False),
        (None, None),
    ],
)
def test_a_precision_that_the_target_does_not_have(npu: bool, value: Any, there: Any) -> None:
    assert runtime.dot_precision(value) == (there if npu else value)


def test_configurations_that_are_the_same_without_gpu_options(npu: bool) -> None:
    import triton

    options = [runtime.gpu_only(num_warps=w, num_stages=s) for w in (2, 4) for s in (2, 3)]
    configs = [triton.Config({"N": n}, **given) for n in (64, 128) for given in options]
    kept = runtime.distinct(configs)
    assert [c.kwargs for c in kept] == ([{"N": 64}, {"N": 128}] if npu else [c.kwargs for c in configs])
    assert npu or [c.num_warps for c in kept] == [c.num_warps for c in configs]
