"""Stands in for an Ascend device, so that host code runs and launches without one.

Part of the capture worker: runs inside the toolchain's environment, which has no tritonport.
"""

from __future__ import annotations

import contextlib
import sys
import types
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any


@dataclass(frozen=True)
class Device:
    """What the stub device says about itself. arch: the compiler's name of it. cube, vector: its cores."""

    arch: str
    cube: int
    vector: int


def _answers(value: Any) -> Callable[..., Any]:
    """A function that takes anything and gives this."""

    def answer(*_args: Any, **_kwargs: Any) -> Any:
        return value

    return answer


class _Anything:
    """Takes any attribute and any call: a stream, an event."""

    def __getattr__(self, name: str) -> _Anything:
        return _Anything()

    def __call__(self, *args: Any, **kwargs: Any) -> _Anything:
        return _Anything()


class _Utils:
    """What the Ascend driver's `utils` answers; `max_shared_mem` is 1 there, and GPU host code reads that."""

    def __init__(self, device: Device) -> None:
        self._device = device

    def get_device_properties(self, _device: Any = None) -> dict[str, int]:
        cores = {"num_aicore": self._device.cube, "num_vectorcore": self._device.vector}
        return {"max_shared_mem": 1, "multiprocessor_count": self._device.cube, **cores}

    def get_aicore_num(self) -> int:
        return self._device.cube

    def get_aivector_core_num(self) -> int:
        return self._device.vector

    def get_arch(self) -> str:
        return self._device.arch


class StubDriver:
    """Triton's active driver. Its benchmark costs nothing, so an autotuner takes its first configuration."""

    def __init__(self, device: Device) -> None:
        self.device = device
        self.utils = _Utils(device)

    def get_current_target(self) -> Any:
        from triton.backends.compiler import GPUTarget

        return GPUTarget("npu", self.device.arch, 0)

    def get_benchmarker(self) -> Any:
        return _answers([0.0, 0.0, 0.0])

    def get_current_device(self) -> int:
        return 0

    def get_current_stream(self, device: Any = None) -> int:
        return 0


def _torch_npu(device: Device) -> types.ModuleType:
    import torch

    module = types.ModuleType("torch.npu")
    members: dict[str, Any] = {
        "is_available": _answers(True),
        "current_device": _answers(0),
        "device_count": _answers(1),
        "get_device_name": _answers(device.arch),
        "device": _answers(contextlib.nullcontext()),
        "set_device": _answers(None),
        "synchronize": _answers(None),
        "current_stream": _answers(_Anything()),
        "get_amp_supported_dtype": _answers([torch.bfloat16, torch.float16]),
    }
    for name, value in members.items():
        setattr(module, name, value)
    return module


def install(device: Device) -> None:
    """Makes triton and torch believe in the device. Tensors stay on the CPU; nothing can be executed."""
    import torch
    from torch.utils.backend_registration import rename_privateuse1_backend
    from triton.runtime.driver import driver

    stub: Any = StubDriver(device)
    driver.set_active(stub)

    if not hasattr(torch, "npu"):
        # as torch_npu does: "npu" becomes a device type that torch.amp and torch.device know
        rename_privateuse1_backend("npu")
        module = _torch_npu(device)
        setattr(torch, "npu", module)  # noqa: B010  (torch has no such attribute for a type checker)
        sys.modules["torch.npu"] = module
