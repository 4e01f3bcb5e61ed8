"""The original's side: run a unit, keep its inputs, outputs, reference and every call of a launching
function."""

from __future__ import annotations

import time
from pathlib import Path
from typing import Any

from tritonport.verify.child import encode
from tritonport.verify.child.launches import Counter
from tritonport.verify.child.poison import poisoned_allocations
from tritonport.verify.child.record import HostCall, Recorder
from tritonport.verify.child.shims.host import chosen_configs, pin_configs
from tritonport.verify.child.units import Unit


class Original:
    """root: the folder whose functions are recorded."""

    def __init__(self, root: Path) -> None:
        self._root = root
        self._seen: set[str] = set()

    def run(self, unit: Unit, folder: Path) -> dict[str, Any]:
        """Writes inputs, outputs, reference and host-NNN into folder; returns what the migrated side has to
        know."""
        started = time.perf_counter()
        pin_configs({})
        values = unit.inputs()
        encode.save_value(folder, "inputs", values)
        with poisoned_allocations(), Counter() as counter, Recorder(self._root) as recorder:
            outputs = unit.run(encode.load_value(folder, "inputs"))
        encode.save_value(folder, "outputs", outputs)
        reference = unit.reference(encode.load_value(folder, "inputs"))
        encode.save_value(folder, "reference", reference)
        return {
            "launches": counter.to_json(),
            "configs": chosen_configs(),
            "hosts": [self._keep(call, folder, n) for n, call in enumerate(recorder.calls)],
            "seconds": time.perf_counter() - started,
        }

    def _keep(self, call: HostCall, folder: Path, number: int) -> dict[str, Any]:
        """A call that differs from an earlier one in contents alone is told, but not kept."""
        about: dict[str, Any] = {
            "function": str(call.function),
            "kernels": call.kernels,
            "why_not": call.why_not,
        }
        if call.why_not is not None:
            return about
        if call.signature() in self._seen:
            return about | {"repeated": True}
        self._seen.add(call.signature())
        name = f"host-{number:03d}"
        tree = {"before": call.before, "after": call.after, "result": call.result}
        encode.save(folder, name, tree, call.tensors)
        return about | {"file": name}
