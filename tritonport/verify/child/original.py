"""The original's side: run a unit, keep its inputs, outputs, reference and every call of a launching
function."""

from __future__ import annotations

import time
from pathlib import Path
from typing import Any

from tritonport.verify.child import encode
from tritonport.verify.child.launches import Counter
from tritonport.verify.child.poison import poisoned_allocations
from tritonport.verify.child.record import Kept, Recorder
from tritonport.verify.child.shims.host import chosen_configs, pin_configs
from tritonport.verify.child.units import Unit


class Original:
    """root: the folder whose functions are recorded."""

    def __init__(self, root: Path) -> None:
        self._root = root
        self._kept = Kept(encode.save)

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
            "hosts": [self._kept.keep(call, folder, n) for n, call in enumerate(recorder.calls)],
            "seconds": time.perf_counter() - started,
        }
