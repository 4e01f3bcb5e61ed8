"""How much memory the plan takes, from the compiler's own record of it, or from the addresses in the IR."""

from __future__ import annotations

import json
import re
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from tritonport.npu.measure import Buffer, Message, Use
from tritonport.npu.messages import MEMORIES, place_of
from tritonport.npu.mlir_text import ELEMENT_BITS, Region, functions, memref_in

_POINTER = re.compile(r"hivm\.hir\.pointer_cast\(([^)]*)\).* : (memref<.*>)")
_TYPE = re.compile(r"memref<.*>")
_SHOWN = 5


@dataclass(frozen=True, slots=True)
class Plan:
    """uses: by memory. whole: whether that is every memory in use.

    largest: the largest buffers alive at the fullest moment of the memory in question.
    """

    uses: Mapping[str, Use]
    whole: bool
    largest: tuple[Buffer, ...]


def read_plan(
    folder: Path, text: str | None, limits: Mapping[str, int], overflows: Iterable[Message]
) -> Plan:
    """The plan of one compilation.

    folder: where the compiler wrote memory_info_*.json (1.1.0 on). text: the final IR, for versions that
    do not. limits: bits by memory. overflows: their bits win, because a failed plan is not complete.
    """
    records = tuple(_records(folder))
    uses = {name: Use(bits, limits[name]) for name, bits in _used(records).items()}
    whole = text is not None and bool(records)
    if not records and text is not None:
        planned = _addresses(text)
        whole = bool(planned) and None not in planned.values()
        uses = {name: Use(bits, limits[name]) for name, bits in planned.items() if bits is not None}
    full = {
        m.buffer: Use(m.requires_bits, m.limit_bits)
        for m in overflows
        if m.buffer and m.requires_bits and m.limit_bits
    }
    for name, use in full.items():
        uses[name] = use
    shown = next(iter(full), "UB")
    buffers = [b for record in records if record.memory == shown for b in record.buffers]
    return Plan(dict(sorted(uses.items())), whole, largest(buffers))


@dataclass(frozen=True, slots=True)
class Planned:
    """One buffer of the record: where it lies (bytes), how big it is (bits), and when it lives."""

    offsets: tuple[int, ...]
    bits: int
    first: int
    last: int
    text: str
    location: str


@dataclass(frozen=True, slots=True)
class _Record:
    memory: str
    buffers: tuple[Planned, ...]


def _records(folder: Path) -> Iterable[_Record]:
    for file in sorted(folder.glob("memory_info*.json")):
        try:
            data: dict[str, Any] = json.loads(file.read_text())
        except ValueError:
            continue
        for record in data.get("Record", ()):
            memory = MEMORIES.get(record["scope"])
            if memory is not None:
                yield _Record(memory, tuple(_planned(item) for item in record["memory_info_array"]))


def _planned(item: Mapping[str, Any]) -> Planned:
    first, last = item["life_time_in_ir"]
    offsets = tuple(item["offset"]) or (0,)
    return Planned(offsets, item["extent"], first, last, item["buffer"], item["source_location"])


def _used(records: Iterable[_Record]) -> dict[str, int]:
    used: dict[str, int] = {}
    for record in records:
        top = max((o * 8 + b.bits for b in record.buffers for o in b.offsets), default=0)
        used[record.memory] = max(used.get(record.memory, 0), top)
    return used


def _addresses(text: str) -> dict[str, int | None]:
    """Highest planned address per memory. A buffer of unknown size makes its memory unknown, not smaller."""
    used: dict[str, int | None] = {}
    for function in functions(text):
        for node in function.body.walk():
            for name, end in (found for line in node.lines for found in _ends(line, node)):
                before = used.get(name, 0)
                used[name] = None if end is None or before is None else max(before, end)
    return used


def _ends(line: str, node: Region) -> Iterable[tuple[str, int | None]]:
    """Memory and end (bits) of each copy of the buffer that a line names; None where it is not known."""
    match = _POINTER.search(line)
    memory = memref_in(match.group(2)) if match else None
    if match is None or memory is None or memory.space not in MEMORIES:
        return
    bits, elements = ELEMENT_BITS.get(memory.element), memory.elements
    for address in match.group(1).split(","):
        at = node.constant(address.strip())
        if at is None or elements is None or bits is None:
            yield MEMORIES[memory.space], None
        else:
            yield MEMORIES[memory.space], at * 8 + elements * bits


def largest(buffers: Iterable[Planned]) -> tuple[Buffer, ...]:
    """The largest buffers alive at the moment when the live ones are largest together."""
    distinct = {(b.offsets, b.bits, b.first, b.last, b.location): b for b in buffers}
    every = list(distinct.values())
    if not every:
        return ()

    def alive(moment: int) -> list[Planned]:
        return [b for b in every if b.first <= moment <= b.last]

    fullest = max((b.first for b in every), key=lambda moment: sum(b.bits for b in alive(moment)))
    ordered = sorted(alive(fullest), key=lambda b: (-b.bits, b.first))
    return tuple(_shown(b) for b in ordered[:_SHOWN])


def _shown(buffer: Planned) -> Buffer:
    kind = _TYPE.search(buffer.text)
    memory = memref_in(kind.group(0)) if kind else None
    sizes = "x".join("?" if s is None else str(s) for s in memory.shape) if memory else ""
    name = f"{sizes}x{memory.element}" if memory and sizes else buffer.text
    return Buffer(name, buffer.bits, *place_of(buffer.location))
