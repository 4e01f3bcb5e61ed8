"""Shadow memory of one launch: whose bytes an address belongs to, and which task wrote or read them."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from dataclasses import dataclass
from typing import Any

import numpy as np
import numpy.typing as npt
import torch

Array = npt.NDArray[Any]
Note = Callable[[str, str, int | None, int], None]
"""Called with the kind, the argument, the other task's serial number (or None) and how many lanes."""

Unchanged = Callable[[Array], Array]
"""From the lanes of a store that touch memory to whether each writes what is there."""

NOBODY = -1
WRITTEN_TWICE = "two tasks write one address"
UNWRITTEN = "reads what nothing wrote"
SAME_VALUE = ": the same value"
"""What a finding says of it: whatever the order of the tasks, the result is one."""


@dataclass(slots=True)
class Region:
    """One argument's storage. start, stop: byte addresses. low, high: the part that the arguments' shapes
    cover.

    writer, reader: serial number of the last task per byte (only the first byte of each access is marked).
    """

    names: str
    start: int
    stop: int
    low: int
    high: int
    writer: Array
    reader: Array


class Memory:
    """All tensor arguments of a launch."""

    def __init__(self, arguments: dict[str, Any], note: Note) -> None:
        self._note = note
        regions: dict[int, Region] = {}
        for name, value in _tensors(arguments):
            _add(regions, name, value)
        self.regions = sorted(regions.values(), key=lambda region: region.start)

    def region_at(self, address: int) -> Region | None:
        return next((r for r in self.regions if r.start <= address < r.stop), None)

    def access(
        self,
        kind: str,
        pointers: Array,
        mask: Array,
        size: int,
        *,
        task: int,
        origin: Region | None,
        unchanged: Unchanged | None = None,
    ) -> Array:
        """Note one access and return the lanes that may really touch memory: those inside the argument.

        unchanged: for a store, which of these lanes write what stands there already.
        """
        pointers, mask = np.broadcast_arrays(pointers, mask)
        self._masked_lanes(kind, pointers[~mask], size, origin)
        active = pointers[mask].astype(np.int64)
        if not active.size:
            return mask
        region = origin or self.region_at(int(active[0]))
        if region is None:
            self._note(f"{kind} outside every argument", "?", None, active.size)
            return np.zeros_like(mask)
        inside = (active >= region.start) & (active + size <= region.stop)
        if not inside.all():
            self._note(f"{kind} out of bounds", region.names, None, int((~inside).sum()))
        safe = mask.copy()
        safe[mask] = inside

        def same() -> Array:
            return unchanged(safe)[safe] if unchanged is not None else np.zeros(int(inside.sum()), dtype=bool)

        self._touch(kind, region, active[inside], size, task, same)
        return safe

    def _masked_lanes(self, kind: str, pointers: Array, size: int, region: Region | None) -> None:
        if region is None or not pointers.size:
            return
        addresses = pointers.astype(np.int64)
        stray = int(((addresses < region.start) | (addresses + size > region.stop)).sum())
        if stray:
            self._note(f"masked {kind} addresses out of bounds", region.names, None, stray)

    def _touch(
        self,
        kind: str,
        region: Region,
        addresses: Array,
        size: int,
        task: int,
        same: Callable[[], Array],
    ) -> None:
        beyond = int(((addresses < region.low) | (addresses + size > region.high)).sum())
        if beyond:
            self._note(f"{kind} outside the argument's view", region.names, None, beyond)
        offsets = addresses - region.start
        if kind == "load":
            self._other(region.writer, offsets, task, "reads what another task wrote", region)
            region.reader[offsets] = task
            return
        if kind == "store":
            self._written_again(region, offsets, task, same)
            self._other(region.reader, offsets, task, "overwrites what another task read", region)
        region.writer[offsets] = task if kind == "store" else NOBODY

    def _written_again(self, region: Region, offsets: Array, task: int, same: Callable[[], Array]) -> None:
        seen = region.writer[offsets]
        again = (seen != NOBODY) & (seen != task)
        if again.any():
            said = SAME_VALUE if same()[again].all() else ""
            self._note(WRITTEN_TWICE, region.names + said, int(seen[again][0]), int(again.sum()))

    def _other(self, shadow: Array, offsets: Array, task: int, kind: str, region: Region) -> None:
        seen = shadow[offsets]
        others = seen[(seen != NOBODY) & (seen != task)]
        if others.size:
            self._note(kind, region.names, int(others[0]), others.size)


def _tensors(arguments: dict[str, Any]) -> Iterable[tuple[str, torch.Tensor]]:
    for name, value in arguments.items():
        if isinstance(value, torch.Tensor) and value.numel():
            yield name, value


def _add(regions: dict[int, Region], name: str, tensor: torch.Tensor) -> None:
    storage = tensor.untyped_storage()
    start, size = storage.data_ptr(), storage.nbytes()
    item = tensor.element_size()
    spans = [(n - 1) * s for n, s in zip(tensor.shape, tensor.stride(), strict=True)]
    first = tensor.data_ptr() + item * sum(min(span, 0) for span in spans)
    last = tensor.data_ptr() + item * (sum(max(span, 0) for span in spans) + 1)
    known = regions.get(start)
    if known is None:
        shadow = np.full(size, NOBODY, np.int32)
        regions[start] = Region(name, start, start + size, first, last, shadow, shadow.copy())
        return
    known.names += f"/{name}"
    known.low, known.high = min(known.low, first), max(known.high, last)
