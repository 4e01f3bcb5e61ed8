"""What the compiler said about one kernel, as facts. None always means "not known", never 0."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import asdict, dataclass, field
from typing import Any, Literal

SubBlock = Literal["tiled", "guarded", "none"]
Kind = Literal[
    "overflow",
    "legalisation",
    "assertion",
    "crash",
    "time-out",
    "silent",
    "missing",
    "front-end",
    "grid",
    "option",
]


@dataclass(frozen=True, slots=True)
class Message:
    """One thing that went wrong. file: relative to the source root; line: 1-based; None when unknown.

    buffer: UB, L1 or L0C with requires_bits and limit_bits, for an overflow.
    """

    kind: Kind
    text: str
    file: str | None = None
    line: int | None = None
    buffer: str | None = None
    requires_bits: int | None = None
    limit_bits: int | None = None


@dataclass(frozen=True, slots=True)
class Buffer:
    """One planned buffer. bits: its extent. file, line: the source that it holds a value of."""

    type: str
    bits: int
    file: str | None
    line: int | None


@dataclass(frozen=True, slots=True)
class Use:
    """How much of one memory the plan takes: UB (unified buffer), L1 or L0C. bits may be over the limit."""

    bits: int
    limit_bits: int

    @property
    def percent(self) -> float:
        return round(100 * self.bits / self.limit_bits, 1)


@dataclass(frozen=True, slots=True, kw_only=True)
class Counts:
    """What the final IR of one specialisation holds. None: the IR has a form that is not read here.

    scalar_iterations: element-by-element loop iterations per program; a loop whose length is not a constant
    counts once and is listed in unbounded_loops; single numbers in it (of a task, of a chunk) do not count.
    scalar_reasons: the same by cause.
    discrete_elements: elements moved alone because the innermost stride in global memory is not 1.
    contiguous_bytes: the shortest contiguous run of any transfer.
    """

    scalar_iterations: int | None = None
    scalar_reasons: Mapping[str, int] | None = None
    unbounded_loops: int | None = None
    discrete_elements: int | None = None
    contiguous_bytes: int | None = None
    sub_block: SubBlock | None = None
    cube_calls: int | None = None
    vector_calls: int | None = None
    cross_core_syncs: int | None = None
    barriers: int | None = None


@dataclass(frozen=True, slots=True)
class Measurement(Counts):
    """One specialisation of one kernel through the compiler.

    fits: whether memory planning passed; None when the compiler never came to a plan.
    uses: by memory (UB, L1, L0C); a memory that the kernel does not use is absent. whole_plan: whether an
    absent memory is known to be unused; a plan that failed may not be complete.
    retries: what the compiler switched off by itself to make the kernel fit.
    """

    fits: bool | None
    seconds: float
    uses: Mapping[str, Use] = field(default_factory=dict[str, Use])
    whole_plan: bool = False
    retries: tuple[str, ...] = ()
    messages: tuple[Message, ...] = ()
    largest_buffers: tuple[Buffer, ...] = ()
    ir_digest: str | None = None

    def percent(self, memory: str) -> float | None:
        """Per cent of one memory's limit; over 100 when it does not fit; None when not known."""
        if memory in self.uses:
            return self.uses[memory].percent
        return 0.0 if self.whole_plan else None

    @property
    def error(self) -> str | None:
        return self.messages[0].text if self.messages else None

    def to_json(self) -> dict[str, Any]:
        return asdict(self)

    @staticmethod
    def from_json(data: dict[str, Any]) -> Measurement:
        members: dict[str, Any] = {
            **data,
            "uses": {name: Use(**use) for name, use in data["uses"].items()},
            "retries": tuple(data["retries"]),
            "messages": tuple(Message(**message) for message in data["messages"]),
            "largest_buffers": tuple(Buffer(**buffer) for buffer in data["largest_buffers"]),
        }
        return Measurement(**members)
