"""What `toolchain install` installs, with the digests that pip must find. Data: pins.toml."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from functools import cache
from pathlib import Path

from tritonport.toml import read_toml


@dataclass(frozen=True, slots=True)
class Pinned:
    """One wheel of the compiler. hashes: sha256 of every wheel of that version that this tool may install."""

    name: str
    version: str
    hashes: tuple[str, ...]

    def requirement(self) -> str:
        return f"{self.name}=={self.version} " + " ".join(f"--hash=sha256:{digest}" for digest in self.hashes)


@dataclass(frozen=True, slots=True)
class Pins:
    """default: the ascendnpu-ir that is taken when nobody names one. compilers: by ascendnpu-ir version.

    capture: what the host code needs to run beside the compiler. pythons: CPython versions, best first.
    """

    default: str
    compilers: Mapping[str, tuple[Pinned, ...]]
    capture: tuple[str, ...]
    pythons: tuple[str, ...]
    unused: tuple[str, ...]

    @property
    def triton_ascend(self) -> str:
        return next(p.version for p in self.compilers[self.default] if p.name == "triton-ascend")


@cache
def pins() -> Pins:
    data = read_toml(Path(__file__).with_name("pins.toml"))
    common = tuple(Pinned(p["name"], p["version"], tuple(p["sha256"])) for p in data["common"])
    compilers = {
        p["version"]: (*common, Pinned("ascendnpu-ir", p["version"], tuple(p["sha256"])))
        for p in data["ascendnpu-ir"]
    }
    return Pins(
        data["default"], compilers, tuple(data["capture"]), tuple(data["pythons"]), tuple(data["unused"])
    )
