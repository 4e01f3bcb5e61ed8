"""Running a unit on a device: fresh values each time, gradients in this thread, upstream's own checks aside."""

from __future__ import annotations

import importlib
from collections.abc import Sequence
from pathlib import Path

import torch
from torch import Tensor

from tritonport.verify.child.device import encode
from tritonport.verify.child.device.backends import Backend
from tritonport.verify.child.device.clock import times_of
from tritonport.verify.child.poison import poisoned_allocations
from tritonport.verify.child.units import Unit
from tritonport.verify.device.settings import Waiver


class Runner:
    """Runs one unit with the inputs of a folder."""

    def __init__(self, unit: Unit, folder: Path, backend: Backend) -> None:
        self._unit, self._folder, self._backend = unit, folder, backend

    def once(self) -> dict[str, Tensor]:
        """Fresh inputs, fresh memory poisoned. Backward runs in this thread, where the recorder can see it."""
        values = encode.load_value(self._folder, "inputs", self._backend.device)
        with poisoned_allocations(), torch.autograd.set_multithreading_enabled(False):
            outputs = self._unit.run(values)
        self._backend.synchronize()
        return outputs

    def times(self, repeats: int) -> dict[str, float]:
        """Median milliseconds by kernel and of the whole; memory is not poisoned, which would be timed too."""
        values = encode.load_value(self._folder, "inputs", self._backend.device)
        with torch.autograd.set_multithreading_enabled(False):
            return times_of(self._backend, repeats, lambda: self._unit.run(values))


def applied(waivers: Sequence[Waiver], backend: Backend) -> frozenset[str]:
    """Set what the waivers that hold here name; the kernels that they warn of."""
    import triton

    kernels: set[str] = set()
    for waiver in waivers:
        if waiver.holds(str(triton.__version__), backend.capability()) and _switch(waiver):
            kernels |= set(waiver.kernels)
    return frozenset(kernels)


def _switch(waiver: Waiver) -> bool:
    """Whether this release has the module and the attribute."""
    try:
        module = importlib.import_module(waiver.module)
    except ModuleNotFoundError:
        return False
    if not hasattr(module, waiver.name):
        return False
    setattr(module, waiver.name, waiver.value)
    return True
