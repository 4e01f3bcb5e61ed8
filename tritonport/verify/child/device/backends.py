"""The kinds of device: where tensors live, how time is taken, how launches are seen.

Everything else in this package is the same for all of them. `Interpreter` has no device: tests run the same code
with it on the CPU.
"""

from __future__ import annotations

import importlib
import importlib.util
import time
from abc import ABC, abstractmethod
from collections.abc import Callable
from importlib import metadata
from typing import Any

import torch

from tritonport.verify.device.settings import DeviceKind

Milliseconds = Callable[[], float]


class UnusableError(Exception):
    """There is no such device here; the message says why, in one line."""


class Backend(ABC):
    """One device. `prepare` comes first, before anything imports the package under test."""

    kind: DeviceKind
    forced_cores = 0
    """Programs that migrated kernels are told to start in whole operators; 0 lets them ask the device."""

    def __init__(self, index: int) -> None:
        self.index = index

    @property
    @abstractmethod
    def device(self) -> torch.device: ...

    @abstractmethod
    def prepare(self) -> None:
        """Select the device and hook its launches. Raises UnusableError."""

    @abstractmethod
    def facts(self) -> dict[str, str]:
        """Name and versions, for the report."""

    @abstractmethod
    def processors(self) -> int:
        """The most programs that a migrated kernel starts when nothing forces a number."""

    @abstractmethod
    def mark(self) -> Any:
        """A point in the device's stream of work."""

    @abstractmethod
    def between(self, start: Any, stop: Any) -> float:
        """Milliseconds between two marks that the device has passed."""

    @abstractmethod
    def synchronize(self) -> None: ...

    @abstractmethod
    def queue_up(self) -> None:
        """Keep the device busy for a moment, so that the host is ahead of it and launch gaps stay out of times."""

    def refusals(self) -> tuple[type[Exception], ...]:
        """What a launch raises whose configuration does not fit the device."""
        from triton.runtime.errors import OutOfResources

        return (OutOfResources,)

    def capability(self) -> int | None:
        """Major compute capability, where there is one."""
        return None


class _TorchDevice(Backend):
    """A device with an interface like torch.cuda's."""

    @property
    def device(self) -> torch.device:
        return torch.device(self.kind, self.index)

    @property
    @abstractmethod
    def api(self) -> Any:
        """torch.cuda or torch.npu."""

    def prepare(self) -> None:
        self._require()
        count = int(self.api.device_count())
        if self.index >= count:
            raise UnusableError(f"there is no {self.kind}:{self.index}, {count} found")
        self.api.set_device(self.index)
        from tritonport.verify.child import launches

        launches.install_compiled()

    @abstractmethod
    def _require(self) -> None:
        """Raises UnusableError where packages or devices are missing."""

    def mark(self) -> Any:
        event = self.api.Event(enable_timing=True)
        event.record()
        return event

    def between(self, start: Any, stop: Any) -> float:
        return float(start.elapsed_time(stop))

    def synchronize(self) -> None:
        self.api.synchronize()


class Cuda(_TorchDevice):
    kind = "cuda"

    @property
    def api(self) -> Any:
        return torch.cuda

    def _require(self) -> None:
        if torch.version.cuda is None:
            raise UnusableError(f"torch {torch.__version__} is built without CUDA")
        if not torch.cuda.is_available():
            raise UnusableError("torch finds no CUDA device")
        _require_package("triton", "triton")

    def facts(self) -> dict[str, str]:
        about = torch.cuda.get_device_properties(self.index)
        return {
            "device": str(about.name),
            "capability": f"{about.major}.{about.minor}",
            "processors": str(about.multi_processor_count),
            "cuda": str(torch.version.cuda),
        } | _versions("torch", "triton")

    def processors(self) -> int:
        return int(torch.cuda.get_device_properties(self.index).multi_processor_count)

    def capability(self) -> int | None:
        return int(torch.cuda.get_device_properties(self.index).major)

    def queue_up(self) -> None:
        spin: Callable[[int], None] = getattr(torch.cuda, "_sleep")  # noqa: B009 - private in torch, untyped
        spin(50_000_000)  # cycles: about 25 ms, longer than the host takes for an operator's launches


class Npu(_TorchDevice):
    kind = "npu"

    @property
    def api(self) -> Any:
        return getattr(torch, "npu")  # noqa: B009 - torch_npu puts it there

    def _require(self) -> None:
        _require_package("torch_npu", "torch-npu")
        importlib.import_module("torch_npu")
        if not self.api.is_available():
            raise UnusableError("torch_npu finds no NPU")
        _require_package("triton", "triton-ascend")
        _require_package("triton.backends.ascend", "triton-ascend")

    def facts(self) -> dict[str, str]:
        cores = {f"{kind}s": str(count) for kind, count in self._cores().items()}
        versions = _versions("torch", "torch-npu", "triton-ascend", "triton")
        return {"device": str(self.api.get_device_name(self.index))} | cores | versions

    def processors(self) -> int:
        return max(self._cores().values())

    def queue_up(self) -> None:
        pass  # torch.npu has nothing to keep it busy with

    def refusals(self) -> tuple[type[Exception], ...]:
        """triton-ascend reports a tile that overflows on-chip memory as an error of compilation."""
        from triton.compiler import errors

        found = (getattr(errors, name, None) for name in ("CompilationError", "MLIRCompilationError"))
        return (*super().refusals(), *(kind for kind in found if kind is not None))

    def _cores(self) -> dict[str, int]:
        """AI cores (with the cube unit) and vector cores, as triton-ascend's driver counts them."""
        from triton.runtime import driver

        active: Any = driver.active
        properties = active.utils.get_device_properties(self.index)
        return {kind: int(properties[kind]) for kind in ("num_aicore", "num_vectorcore")}


class Interpreter(Backend):
    kind = "interpreter"
    forced_cores = 3

    @property
    def device(self) -> torch.device:
        return torch.device("cpu")

    def prepare(self) -> None:
        from tritonport.verify.child import launches, shims

        shims.install()
        launches.install()

    def facts(self) -> dict[str, str]:
        return {"device": "cpu, Triton's interpreter"} | _versions("torch", "triton")

    def processors(self) -> int:
        return self.forced_cores

    def mark(self) -> Any:
        return time.perf_counter()

    def between(self, start: Any, stop: Any) -> float:
        return 1000.0 * (stop - start)

    def synchronize(self) -> None:
        pass  # nothing runs beside the host

    def queue_up(self) -> None:
        pass


KINDS: dict[DeviceKind, type[Backend]] = {"cuda": Cuda, "npu": Npu, "interpreter": Interpreter}


def _require_package(module: str, distribution: str) -> None:
    try:
        found = importlib.util.find_spec(module)
    except ModuleNotFoundError:
        found = None
    if found is None:
        raise UnusableError(f"{distribution} is not installed")


def _versions(*names: str) -> dict[str, str]:
    found: dict[str, str] = {}
    for name in names:
        try:
            found[name] = metadata.version(name)
        except metadata.PackageNotFoundError:
            continue
    return found
