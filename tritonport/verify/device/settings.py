"""What a worker on a device is told besides its setup. Plain data, free of torch."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any, Literal

from packaging.specifiers import SpecifierSet
from packaging.version import Version

DeviceKind = Literal["cuda", "npu", "interpreter"]
"""`interpreter`: the same path without a device, for tests: CPU tensors, kernels in Triton's interpreter."""


@dataclass(frozen=True, slots=True)
class Waiver:
    """A check of upstream's own that would stop a run on some device, switched off on both sides.

    module, name, value: the module attribute to set. triton: versions it holds for. capability: major compute
    capabilities, empty for all. kernels: what the check warns of; they are judged against float64 and not
    against the original, which may be wrong in the same way. why: upstream's reason.
    """

    module: str
    name: str
    value: bool
    triton: str
    kernels: tuple[str, ...]
    why: str
    capability: tuple[int, ...] = ()

    def holds(self, triton: str, capability: int | None) -> bool:
        fits = SpecifierSet(self.triton).contains(Version(triton).public, prereleases=True)
        return fits and (not self.capability or capability in self.capability)

    @classmethod
    def from_json(cls, data: Mapping[str, Any]) -> Waiver:
        capability = tuple(data.get("capability", ()))
        fields: dict[str, Any] = {**data, "kernels": tuple(data["kernels"]), "capability": capability}
        return cls(**fields)


@dataclass(frozen=True, slots=True)
class DeviceSetup:
    """kind and index: which device. repeats: how often each call and each operator runs, the first launch
    included. cores: numbers of programs that a launching function is replayed with, 0 for the device's own
    count. timed: how often an operator is timed. environment: variables of the worker. comparable: whether the
    values to compare with come from the same device, so that exact rules promise their bits."""

    kind: DeviceKind
    index: int = 0
    repeats: int = 2
    cores: tuple[int, ...] = (0,)
    timed: int = 0
    comparable: bool = True
    environment: Mapping[str, str] = field(default_factory=dict[str, str])
    waivers: tuple[Waiver, ...] = ()

    @classmethod
    def from_json(cls, data: Mapping[str, Any] | None) -> DeviceSetup | None:
        if data is None:
            return None
        waivers = tuple(Waiver.from_json(item) for item in data["waivers"])
        fields: dict[str, Any] = {**data, "cores": tuple(data["cores"]), "waivers": waivers}
        return cls(**fields)
