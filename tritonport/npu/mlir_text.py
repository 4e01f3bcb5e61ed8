"""Just enough structure of printed MLIR to count in it: functions, nested regions, constants, memref types.

The printed form is what the compiler hands out (`--save-temps`); it has no stable reader outside of the
compiler, so everything that does not look as expected is marked unknown and counted as unknown.
"""

from __future__ import annotations

import math
import re
from collections.abc import Iterator
from dataclasses import dataclass, field

_CONSTANT = re.compile(
    r"^\s*(%[-.\w#]+) = (?:arith\.constant |llvm\.mlir\.constant\()(-?\d+) : (?:index|i\d+)"
)
_FUNCTION = re.compile(r"^\s*func\.func (?:private )?@(\w+)\(")
_FOR = re.compile(r"\bscf\.for (%[-.\w#]+) = (%[-.\w#]+) to (%[-.\w#]+) step (%[-.\w#]+)")
_LOOP = re.compile(r"\b(scf\.(?:for|while|forall|parallel)|affine\.(?:for|parallel))\b")
_ALIAS = re.compile(
    r"^\s*(%[-.\w#]+) = (memref\.(?:cast|subview|collapse_shape|expand_shape|reinterpret_cast|view)|"
    r"hivm\.hir\.pointer_cast)\b(.*)$"
)
_MEMREF = re.compile(
    r"memref<((?:[\d?]+x)*)(\w+)(?:, strided<\[([^\]]*)\](?:, offset: [^>]+)?>)?"
    r"(?:, #hivm\.address_space<(\w+)>)?>"
)
_SOURCE = re.compile(r"^ ?(%[-.\w#]+)")
ELEMENT_BITS = {
    "i1": 1, "i8": 8, "i16": 16, "i32": 32, "i64": 64, "f16": 16, "bf16": 16, "f32": 32, "f64": 64,
}  # fmt: skip


@dataclass(frozen=True, slots=True)
class MemRef:
    """A memref type. None stands for a size or stride that is only known at run time."""

    shape: tuple[int | None, ...]
    element: str
    strides: tuple[int | None, ...]
    space: str | None

    @property
    def elements(self) -> int | None:
        sizes = [size for size in self.shape if size is not None]
        return math.prod(sizes) if len(sizes) == len(self.shape) else None


def memref_in(text: str) -> MemRef | None:
    """The first memref type in text, or None. Strides follow from the shape where none are printed."""
    match = _MEMREF.search(text)
    if match is None:
        return None
    shape = tuple(None if size == "?" else int(size) for size in match.group(1).split("x") if size)
    if match.group(3) is not None:
        strides = tuple(
            None if "?" in part else int(part) for part in match.group(3).split(",") if part.strip()
        )
    else:
        strides = _row_major(shape)
    return MemRef(shape, match.group(2), strides, match.group(4))


def _row_major(shape: tuple[int | None, ...]) -> tuple[int | None, ...]:
    strides: list[int | None] = []
    step: int | None = 1
    for size in reversed(shape):
        strides.insert(0, step)
        step = None if step is None or size is None else step * size
    return tuple(strides)


@dataclass(slots=True)
class Region:
    """A block of lines with the regions inside it.

    loop: whether it repeats. trips: how often, None when the count is not a constant. known: False for a
    loop whose header has a form that is not read. Names are reused in sibling regions, so lookups go up.
    """

    head: str
    parent: Region | None
    loop: bool = False
    trips: int | None = 1
    known: bool = True
    attributes: str = ""
    lines: list[str] = field(default_factory=list[str])
    children: list[Region] = field(default_factory=list["Region"])
    constants: dict[str, int] = field(default_factory=dict[str, int])
    aliases: dict[str, tuple[str, str]] = field(default_factory=dict[str, tuple[str, str]])

    def walk(self) -> Iterator[Region]:
        yield self
        for child in self.children:
            yield from child.walk()

    def above(self) -> Iterator[Region]:
        node: Region | None = self
        while node is not None:
            yield node
            node = node.parent

    def constant(self, name: str) -> int | None:
        return next((node.constants[name] for node in self.above() if name in node.constants), None)

    def alias(self, name: str) -> tuple[str, str] | None:
        """Operation and rest of the line that defines name, when it is another view of a memory."""
        return next((node.aliases[name] for node in self.above() if name in node.aliases), None)

    def repeats(self) -> int:
        """How often the lines of this region run, as far as loop lengths are constants."""
        return math.prod(node.trips for node in self.above() if node.loop and node.trips is not None)


@dataclass(frozen=True, slots=True)
class Function:
    name: str
    header: str
    body: Region

    def text(self) -> str:
        return "\n".join(
            line for node in self.body.walk() for line in (node.head, *node.lines, node.attributes)
        )


def functions(text: str) -> tuple[Function, ...]:
    """Every function with a body."""
    found: list[Function] = []
    lines = iter(text.splitlines())
    for line in lines:
        match = _FUNCTION.match(line)
        if match and line.rstrip().endswith("{"):
            found.append(Function(match.group(1), line, _region(line, lines)))
    return tuple(found)


def _region(header: str, lines: Iterator[str]) -> Region:
    """Reads lines up to the brace that closes the function."""
    root = Region(header, None)
    node = root
    for line in lines:
        stripped = line.strip()
        if stripped.startswith("}"):
            node.attributes = stripped
            if node.parent is None:
                return root
            node = node.parent
            if stripped.endswith("{"):  # `} else {`, `} do {`
                node = _enter(stripped, node)
        elif stripped.endswith("{"):
            node = _enter(line, node)
        else:
            _note(line, node)
    return root


def _note(line: str, node: Region) -> None:
    node.lines.append(line)
    constant = _CONSTANT.match(line)
    if constant:
        node.constants[constant.group(1)] = int(constant.group(2))
    alias = _ALIAS.match(line)
    if alias:
        node.aliases[alias.group(1)] = (alias.group(2), alias.group(3))


def _enter(head: str, parent: Region) -> Region:
    child = Region(head, parent)
    parent.children.append(child)
    if _LOOP.search(head):
        child.loop, child.trips = True, None
        bounds = _FOR.search(head)
        child.known = bounds is not None or "scf.while" in head
        if bounds:
            low, high, step = (parent.constant(bounds.group(i)) for i in (2, 3, 4))
            if low is not None and high is not None and step:
                child.trips = max(0, -(-(high - low) // step))
    return child


def resolve(name: str, node: Region) -> tuple[MemRef | None, int | None]:
    """The most static type of a value, and how many elements it has at most, through casts and subviews.

    A cast to a run-time shape hides sizes that its source still shows.
    """
    seen: MemRef | None = None
    elements: int | None = None
    for _ in range(20):
        found = node.alias(name)
        if found is None:
            break
        operation, rest = found
        source, result = _ends(operation, rest)
        seen = seen or (source if operation == "memref.cast" else result)
        if elements is None and result is not None:
            elements = result.elements
        if elements is None and operation == "memref.subview" and source is not None:
            elements = source.elements
        link = _SOURCE.match(rest)
        if operation in ("hivm.hir.pointer_cast", "memref.reinterpret_cast") or link is None:
            break
        name = link.group(1)
    return seen, elements


def _ends(operation: str, rest: str) -> tuple[MemRef | None, MemRef | None]:
    """Types before and after one view operation."""
    if operation == "hivm.hir.pointer_cast":
        return None, memref_in(rest.rpartition(" : ")[2])
    separator = " into " if " into " in rest else " to "
    before, _, after = rest.rpartition(separator)
    return memref_in(before.rpartition(" : ")[2]), memref_in(after)
