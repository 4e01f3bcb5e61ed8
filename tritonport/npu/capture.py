"""Runs host code in the toolchain's environment and gets every launch that it would make."""

from __future__ import annotations

import json
import tempfile
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

from tritonport.npu import cache, process
from tritonport.npu.cases import Case
from tritonport.npu.compile import NEWER_OPTIONS, Unit
from tritonport.npu.measure import Measurement, Message
from tritonport.npu.messages import LIBRARY, crash, ended_by_signal, read_messages
from tritonport.npu.toolchain import Toolchain, clean_environment
from tritonport.sources.tree import SourceTree

WORKER = Path(__file__).parent / "worker"


@dataclass(frozen=True, slots=True)
class Device:
    """What the stub device says of itself: the compiler's name of the chip, and its cores."""

    arch: str
    cube: int
    vector: int


@dataclass(frozen=True, slots=True)
class Launch:
    """One launch. unit: key of the specialisation. grid: programs per axis."""

    kernel: str
    unit: str
    grid: tuple[int, int, int]

    @property
    def programs(self) -> int:
        return self.grid[0] * self.grid[1] * self.grid[2]


@dataclass(frozen=True, slots=True)
class Tried:
    """A launch with other tile sizes. variant: place in the list of its kernel's variants. unit: as of Launch."""

    kernel: str
    variant: int
    unit: str


Variants = Mapping[str, Sequence[Mapping[str, tuple[str, int]]]]
"""By kernel, sets of tile sizes to record each launch with: tile parameter -> (parameter with the size of its
axis, largest tile)."""


@dataclass(frozen=True, slots=True)
class CapturedCase:
    """error: the traceback's end when the host code raised. notes: what this release does not have."""

    name: str
    launches: tuple[Launch, ...]
    error: str | None
    notes: tuple[str, ...]
    tried: tuple[Tried, ...] = ()


@dataclass(frozen=True, slots=True)
class Captured:
    """One side (the originals, or a migrated tree).

    units: what can be compiled. broken: specialisations that the front end refused, with its messages.
    problem: why nothing could be captured at all.
    """

    cases: tuple[CapturedCase, ...]
    units: Mapping[str, Unit]
    broken: Mapping[str, Measurement]
    problem: str | None = None

    def within(self, modules: frozenset[str]) -> Captured:
        """Only the launches of kernels that these modules define."""
        cases = tuple(
            replace(case, launches=tuple(x for x in case.launches if x.kernel.partition(":")[0] in modules))
            for case in self.cases
        )
        units = {launch.unit for case in cases for launch in case.launches}
        return replace(
            self,
            cases=cases,
            units={key: unit for key, unit in self.units.items() if key in units},
            broken={key: found for key, found in self.broken.items() if key in units},
        )


def capture(
    toolchain: Toolchain,
    device: Device,
    source: SourceTree,
    out: Path | None,
    cases: Sequence[Case],
    *,
    only: Sequence[str] | None = None,
    seconds: float = 600.0,
    variants: Variants | None = None,
) -> Captured:
    """Launches of the originals (out None) or of the migrated tree `out`, which imports over the originals.

    Cached by the bytes of every source that could be imported. variants: tile sizes to try besides.
    """
    watched = [source.root / source.package if source.package else source.entry_path]
    sources = cache.digest_of_sources([*watched, *([out] if out else [])])
    described = [{**case, "path": None} for case in cases]
    name = cache.key(
        "capture",
        toolchain.identity,
        str(device),
        sources,
        described,
        only,
        bool(out),
        str(source.entry),
        variants,
    )
    answer = cache.get(name)
    if answer is None:
        asked = {"only": only, "variants": variants}
        answer = _run(toolchain, device, source, out, cases=cases, asked=asked, seconds=seconds)
        if _remembered(answer, cases):
            cache.put(name, answer)
    return _read(answer)


def _remembered(answer: Mapping[str, Any], cases: Sequence[Case]) -> bool:
    """Whether an answer may be kept: a user's module that failed may fail for what is no part of the sources.

    Cases of a corpus that one release refuses are kept, where others launched something.
    """
    failed = any(case["error"] for case in answer["cases"])
    own = any(case["kind"] == "module" for case in cases)
    launched = any(case["launches"] for case in answer["cases"])
    return answer["problem"] is None and not (failed and (own or not launched))


def _run(
    toolchain: Toolchain,
    device: Device,
    source: SourceTree,
    out: Path | None,
    *,
    cases: Sequence[Case],
    asked: Mapping[str, Any],
    seconds: float,
) -> dict[str, Any]:
    roots = [source.root.resolve(), *([out.resolve()] if out else [])]
    # longest first: a migrated tree may lie inside the source's folder
    renamed = sorted(((f"{root}/", "") for root in roots), key=lambda root: -len(root[0]))
    with tempfile.TemporaryDirectory(prefix="tritonport-capture-") as name:
        folder = Path(name)
        request = {
            "folder": name,
            # the migrated tree first: `import activate` and its modules come from there
            "sys_path": [str(root) for root in reversed(roots)],
            "activate": out is not None,
            "device": {"arch": device.arch, "cube": device.cube, "vector": device.vector},
            "cases": [_in_tree(case, source, out) for case in cases],
            **asked,
            "roots": [*renamed, (f"{toolchain.triton_folder.parent}/", LIBRARY)],
        }
        (folder / "request.json").write_text(json.dumps(request))
        command = [str(toolchain.python), "-s", str(WORKER), str(folder / "request.json")]
        ended = process.run(command, folder, _environment(), seconds)
        return _answer(folder, ended, seconds)


def _in_tree(case: Case, source: SourceTree, out: Path | None) -> Case:
    """A module's own case runs the migrated file of the same name."""
    if case["kind"] != "module" or out is None:
        return case
    moved = out.resolve() / Path(case["path"]).relative_to(source.root)
    return {**case, "path": str(moved)} if moved.is_file() else case


def _environment() -> dict[str, str]:
    """FLA's own dispatch to hand ports is off: both sides are to run the kernels under test."""
    return {**clean_environment(), "FLA_DISABLE_BACKEND_DISPATCH": "1", "PYTHONDONTWRITEBYTECODE": "1"}


def _answer(folder: Path, ended: process.Ended, seconds: float) -> dict[str, Any]:
    """The worker's answer with the IR texts put in, so that it can be cached whole."""
    path = folder / "launches.json"
    if not path.is_file():
        return {"problem": _problem(ended, seconds), "cases": [], "units": {}}
    answer: dict[str, Any] = json.loads(path.read_text())
    for unit in answer["units"].values():
        if unit["ttir"]:
            unit["ttir"] = (folder / unit["ttir"]).read_text()
    return answer


def _problem(ended: process.Ended, seconds: float) -> str:
    if ended.status is None:
        return f"the host code was ended after {seconds:g} s"
    number = ended_by_signal(ended.status)
    last = next((line for line in reversed(ended.output.splitlines()) if line.strip()), "no message")
    return f"the capture crashed (signal {number})" if number else f"the capture failed: {last}"


def _read(answer: Mapping[str, Any]) -> Captured:
    units: dict[str, Unit] = {}
    broken: dict[str, Measurement] = {}
    for key, facts in answer["units"].items():
        refused = _refused(facts)
        if refused is not None:
            broken[key] = Measurement(None, 0.0, messages=(refused,))
        else:
            options = {**facts["options"], **facts["unknown_options"]}
            place = (facts["kernel"], facts["file"], facts["line"])
            units[key] = Unit(*place, facts["ttir"], options, facts["signature"], facts["constants"])
    return Captured(tuple(_case(case) for case in answer["cases"]), units, broken, answer["problem"])


def _case(case: Mapping[str, Any]) -> CapturedCase:
    launches = tuple(
        Launch(item["kernel"], item["unit"], (item["grid"][0], item["grid"][1], item["grid"][2]))
        for item in case["launches"]
    )
    tried = tuple(Tried(item["kernel"], item["variant"], item["unit"]) for item in case.get("tried", ()))
    return CapturedCase(case["case"], launches, case["error"], tuple(case["notes"]), tried)


def _refused(facts: Mapping[str, Any]) -> Message | None:
    """Why there is nothing to compile, or None."""
    home = (facts["file"], facts["line"])
    strange = [name for name in facts["unknown_options"] if name not in NEWER_OPTIONS]
    if strange:
        return Message("option", f"the run time does not know the launch option {strange[0]!r}", *home)
    if facts["ttir"]:
        return None
    printed = read_messages(facts["stderr"])
    if facts.get("status") is not None:
        number = ended_by_signal(facts["status"]) or 0
        died = crash("Triton's front end", number, facts["stderr"])
        return Message(died.kind, died.text, *home)
    if printed and printed[0].file:
        return printed[0]
    place = (facts["error_file"], facts["error_line"]) if facts.get("error_file") else home
    return Message("front-end", printed[0].text if printed else facts["error"], *place)
