"""The original's side on a device: run a unit twice, keep its inputs, outputs, reference and launching calls."""

from __future__ import annotations

import time
from pathlib import Path
from typing import Any

from torch import Tensor

from tritonport.verify.child import encode as host_encode
from tritonport.verify.child.checks import original_checks
from tritonport.verify.child.device import encode, tuner
from tritonport.verify.child.device.backends import Backend
from tritonport.verify.child.device.runs import Runner, applied
from tritonport.verify.child.launches import Counter
from tritonport.verify.child.record import Kept, Recorder
from tritonport.verify.child.unit import NotHereError, Unit
from tritonport.verify.device.settings import DeviceSetup


class DeviceOriginal:
    """root: the folder whose functions are recorded."""

    def __init__(self, root: Path, backend: Backend, settings: DeviceSetup) -> None:
        self._root, self._backend, self._settings = root, backend, settings
        self._kept = Kept(_save)

    def run(self, unit: Unit, folder: Path) -> dict[str, Any]:
        """What Original.run of the interpreter tiers returns, and more.

        repeatable: whether every repetition gave the first run's bits. waived: kernels whose own check was
        switched off. times: median milliseconds by kernel.
        """
        started = time.perf_counter()
        tuner.pin({})
        host_encode.save_value(folder, "inputs", unit.inputs())  # loaded, every tensor lands on the device
        waived = applied(self._settings.waivers, self._backend)
        runner = Runner(unit, folder, self._backend)
        with Counter() as counter, Recorder(self._root, encode.DeviceEncoder) as recorder:
            outputs = runner.once()
        hosts = [self._kept.keep(call, folder, n) for n, call in enumerate(recorder.calls)]
        encode.save_value(folder, "outputs", outputs)
        recorder.calls.clear()  # what it copied is saved; the repetitions need the memory
        repeatable = all(_equal(runner.once(), outputs) for _ in range(self._settings.repeats - 1))
        times = runner.times(self._settings.timed)
        reference = unit.reference(encode.load_value(folder, "inputs", self._backend.device))
        if reference is None and not waived.isdisjoint(counter.kernels):
            raise NotHereError(
                "upstream calls its own kernel wrong there, and nothing else says what is right"
            )
        encode.save_value(folder, "reference", reference)
        return {
            "launches": counter.to_json(),
            "configs": tuner.pinned(),
            "hosts": hosts,
            "repeatable": repeatable,
            "waived": sorted(waived & counter.kernels.keys()),
            "times": times,
            "seconds": time.perf_counter() - started,
        }


def _equal(again: dict[str, Tensor], first: dict[str, Tensor]) -> bool:
    return all(check.ok for check in original_checks(again, first, None))


def _save(folder: Path, name: str, tree: dict[str, Any], tensors: dict[str, Any]) -> None:
    """What the call left as it was is written once."""
    tree, tensors = encode.without_repeats(tree, tensors)
    host_encode.save(folder, name, tree, encode.on_host(tensors))
