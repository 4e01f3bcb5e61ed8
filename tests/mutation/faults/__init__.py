"""The ways in which real ports of these kernels were wrong, as edits that find their places by structure.

Sources: reviews and fixes of FLA's own Ascend kernels, of MindSpeed, sgl-kernel-npu, vllm-ascend and mojo; each
fault says which.
"""

from __future__ import annotations

from tests.mutation.faults import addresses, bodies, layouts, masks, tasks
from tests.mutation.faults.model import Fault, Place

FAULTS: tuple[Fault, ...] = (
    *tasks.FAULTS,
    *bodies.FAULTS,
    *addresses.FAULTS,
    *masks.FAULTS,
    *layouts.FAULTS,
)

__all__ = ["FAULTS", "Fault", "Place"]
