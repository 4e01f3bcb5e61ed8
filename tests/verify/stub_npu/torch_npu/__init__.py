"""Stands for torch_npu and triton-ascend where there is no NPU: as much of their API as the npu-run tier touches.

Importing it gives torch a `torch.npu` with one device. Tensors sent to "npu" stay in host memory, and compiled kernels
run in Triton's interpreter, behind the same `JITFunction.run` that triton-ascend has. What no stub can show is whether
the real compiler and the real cores do the same.
"""

from __future__ import annotations

import importlib
import os
import time
import types
from pathlib import Path
from typing import Any

import torch
from torch.overrides import TorchFunctionMode

CORES = {"num_aicore": 20, "num_vectorcore": 40}


def _host(value: Any) -> Any:
    if isinstance(value, torch.device) and value.type == "npu":
        return torch.device("cpu")
    return "cpu" if isinstance(value, str) and value.partition(":")[0] == "npu" else value


class _OnTheHost(TorchFunctionMode):
    """Every torch call that names the NPU gets the CPU."""

    def __torch_function__(self, func: Any, types: Any, args: Any = (), kwargs: Any = None) -> Any:
        del types
        return func(*map(_host, args), **{k: _host(v) for k, v in (kwargs or {}).items()})


class _Event:
    def __init__(self, enable_timing: bool = False) -> None:
        self.timing, self.at = enable_timing, 0.0

    def record(self) -> None:
        self.at = time.perf_counter()

    def elapsed_time(self, other: _Event) -> float:
        return 1000.0 * (other.at - self.at)


def _npu() -> types.ModuleType:
    npu = types.ModuleType("torch.npu")
    npu.is_available = lambda: os.environ.get("STUB_NPU", "1") == "1"  # type: ignore[attr-defined]
    npu.device_count = lambda: 1  # type: ignore[attr-defined]
    npu.current_device = lambda: 0  # type: ignore[attr-defined]
    npu.set_device = lambda index: None  # type: ignore[attr-defined]
    npu.synchronize = lambda: None  # type: ignore[attr-defined]
    npu.get_device_name = lambda index: "Ascend910B4 (stub)"  # type: ignore[attr-defined]
    npu.Event = _Event  # type: ignore[attr-defined]
    return npu


class _Utils:
    @staticmethod
    def get_device_properties(_device: int) -> dict[str, int]:
        return {"max_shared_mem": 1, **CORES}


def _kernels_in_the_interpreter() -> None:
    """What `JITFunction` compiles on an NPU is interpreted; calls between kernels too."""
    os.environ["TRITON_INTERPRET"] = "0"
    from triton.runtime import driver
    from triton.runtime.interpreter import InterpretedFunction
    from triton.runtime.jit import JITFunction

    from tritonport.verify.child.shims import bf16, host, language, layout, speed

    for module in (host, language, bf16, layout, speed):
        for shim in module.SHIMS:
            if shim is not host.pinned_autotuner:
                shim()
    driver.active.utils = _Utils()

    def run(self: Any, *args: Any, grid: Any, warmup: bool, **kwargs: Any) -> Any:
        if warmup:
            return None
        known = {k: v for k, v in kwargs.items() if k in self.arg_names}
        return InterpretedFunction(self.fn)[grid](*args, **known)

    JITFunction.run = run
    JITFunction.__call__ = lambda self, *args, **kwargs: InterpretedFunction(self.fn)(*args, **kwargs)


torch.utils.rename_privateuse1_backend("npu")
torch.npu = _npu()  # type: ignore[attr-defined]
_OnTheHost().__enter__()
_kernels_in_the_interpreter()
if os.environ.get("STUB_TRITON_ASCEND", "1") == "1":
    importlib.import_module("triton.backends").__path__.append(
        str(Path(__file__).parents[1] / "triton_ascend_stub")
    )
