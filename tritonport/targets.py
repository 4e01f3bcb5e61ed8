"""The targets of rules/targets: chips, how many cores to expect, and the limits that the compiler holds."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

from tritonport.errors import UserError
from tritonport.resources import named_files
from tritonport.toml import read_toml


@dataclass(frozen=True, slots=True)
class Chip:
    """Chips with the same number of cores. Documentation only: emitted code asks the device at run time."""

    names: tuple[str, ...]
    cube_cores: int
    vector_cores: int
    source: str


@dataclass(frozen=True, slots=True)
class Figure:
    """One limit of a target. unit: `bits`, `bytes` or `programs`. source: where the number comes from."""

    name: str
    value: int
    unit: str
    source: str


@dataclass(frozen=True, slots=True)
class Compiler:
    """How a target's kernels are compiled.

    program: beside bishengir-compile in the toolchain. next: the program of CANN that it calls last. options: launch
    options that triton-ascend sets for this target. counts: whether loops and transfers can be counted in its result.
    source: where this comes from.
    """

    program: str = "bishengir-compile"
    next: str = "hivmc"
    options: Mapping[str, Any] = field(default_factory=dict[str, Any])
    counts: bool = True
    source: str = ""


@dataclass(frozen=True, slots=True)
class Target:
    """One rules/targets/<name>.toml. skip: rules that this target does without, with the reason."""

    name: str
    title: str
    chips: tuple[Chip, ...]
    figures: Mapping[str, Figure]
    skip: Mapping[str, str] = field(default_factory=dict[str, str])
    compiler: Compiler = field(default_factory=Compiler)

    def cores(self, *, cube: bool) -> tuple[int, int]:
        """Fewest and most cores of one kind over the target's chips."""
        counts = [chip.cube_cores if cube else chip.vector_cores for chip in self.chips]
        return min(counts), max(counts)


def target_names() -> tuple[str, ...]:
    return tuple(sorted(named_files("targets")))


def load_target(name: str) -> Target:
    """The target of that name. Raises UserError for an unknown one."""
    if name not in target_names():
        raise UserError(f"unknown target {name!r}", f"known: {', '.join(target_names())}")
    data = read_toml(named_files("targets")[name])
    return Target(
        name=data["name"],
        title=data["title"],
        chips=tuple(_chip(chip) for chip in data["chip"]),
        figures={entry["name"]: Figure(**entry) for entry in data["figure"]},
        skip=dict(data.get("skip", {})),
        compiler=Compiler(**data.get("compiler", {})),
    )


def _chip(data: dict[str, Any]) -> Chip:
    return Chip(tuple(data["names"]), data["cube_cores"], data["vector_cores"], data["source"])
