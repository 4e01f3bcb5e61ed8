"""The tier `npu-compile`: every launch of every case, before and after, through the real Ascend compiler."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from concurrent.futures import Future, ThreadPoolExecutor, as_completed
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any, Literal

from tritonport.discover.closure import import_closure
from tritonport.engine.linemap import Origin
from tritonport.errors import UserError
from tritonport.npu import cache
from tritonport.npu.capture import Captured, CapturedCase, Device, Launch, capture
from tritonport.npu.cases import cases_for
from tritonport.npu.compile import Setting, Unit, compile_unit, limits_of
from tritonport.npu.measure import Measurement, Message
from tritonport.npu.toolchain import Missing, Toolchain, locate
from tritonport.sources.tree import SourceTree
from tritonport.targets import Target, load_target, target_names

Progress = Callable[[str, int, int], None]
"""Called with the kernel just finished, how many are done, and how many there are."""

Origins = Mapping[str, Sequence[Origin]]
"""By file of the output (relative to its root): where each of its lines comes from."""

Side = Literal["before", "after"]


@dataclass(frozen=True, slots=True)
class LocatedMessage:
    """A compiler message at its line. side: whose line `line` is. upstream_line, rules: where the line map
    knows them (side `after`)."""

    side: Side
    kernel: str
    case: str
    kind: str
    text: str
    file: str | None
    line: int | None
    upstream_line: int | None = None
    rules: tuple[str, ...] = ()

    def __str__(self) -> str:
        """`pkg/a.py:12: text (upstream line 9, rules x; kernel k, case c)`."""
        place = f"{self.file}:{self.line}: " if self.file else ""
        facts = [f"kernel {self.kernel.partition(':')[2]}"] if self.kernel else []
        facts.append(f"case {self.case}")
        if self.side == "after" and self.upstream_line is not None:
            facts.insert(0, f"upstream line {self.upstream_line}")
        if self.rules:
            facts.insert(1, f"written by {', '.join(self.rules)}")
        return f"{place}{self.text} ({'; '.join(facts)})"


@dataclass(frozen=True, slots=True)
class Detail:
    """Everything about one kernel in one case on one side: the worst specialisation, and all of them."""

    measurements: tuple[Measurement, ...]
    programs: int
    launches: int


Details = Mapping[tuple[str, str, Side], Detail]
"""By kernel, case and side."""


@dataclass(frozen=True, slots=True)
class NpuReport:
    """What the tier found.

    kernels: `module:kernel` -> the entry of its `npu` member in run.json. details: (kernel, case, side) ->
    everything that was measured. notes: cases that a release does not have, versions not checked with.
    """

    toolchain: dict[str, str | None]
    status: Literal["ran", "not-run"]
    why: str | None
    target: str
    kernels: Mapping[str, dict[str, Any]] = field(default_factory=dict[str, dict[str, Any]])
    messages: tuple[LocatedMessage, ...] = ()
    details: Mapping[tuple[str, str, Side], Detail] = field(
        default_factory=dict[tuple[str, str, Side], Detail]
    )
    notes: tuple[str, ...] = ()

    def refused(self) -> tuple[LocatedMessage, ...]:
        """What the compiler said against emitted code; exit status 4 when there is any."""
        return tuple(message for message in self.messages if message.side == "after")

    def result(self, kernel: str) -> Literal["pass", "fail", "not-run"]:
        """Outcome of the migrated kernel: pass only when each case compiled and fits."""
        cases = self.kernels[kernel]["cases"] if kernel in self.kernels else []
        after = [case["after"] for case in cases if case["after"] is not None]
        if not after:
            return "not-run"
        return "pass" if all(m["fits"] is True and m["error"] is None for m in after) else "fail"


def run_npu_compile(
    *,
    source: SourceTree,
    out: Path | None,
    cases: Sequence[str] | None,
    target: str,
    jobs: int,
    toolchain: Path | None,
    progress: Progress,
    ir: str | None = None,
    origins: Origins | None = None,
    seconds: float = 300.0,
) -> NpuReport:
    """Compiles what the cases launch, of the originals and (unless None) of the migrated tree `out`.

    target: `a2`, `a3`, or a chip that one of them lists. ir: another installed ascendnpu-ir version.
    seconds: limit of one compiler call. Raises UserError for an unknown case or target.
    """
    chosen, chip = choose_target(target)
    found = locate(toolchain, ir)
    nothing: dict[str, str | None] = {"triton_ascend": None, "ascendnpu_ir": None, "arch": chip.arch}
    if isinstance(found, Missing):
        return NpuReport(nothing, "not-run", found.why, target)
    setting = setting_for(chosen, chip, seconds)
    if not setting.compiler(found).is_file():
        why = f"this toolchain has no {setting.program}: run `tritonport toolchain install`"
        return NpuReport(nothing, "not-run", why, target)
    only = list(cases) if cases is not None else None
    sides = _captured(found, chip, source, out, only=only, jobs=jobs)
    problem = next((f"{side}: {c.problem}" for side, c in sides.items() if c.problem), None)
    if problem or not any(case.launches for c in sides.values() for case in c.cases):
        why = problem or _no_launches(sides)
        return NpuReport(found.facts(chip.arch), "not-run", why, target, notes=found.notes)
    results = _compiled(found, setting, sides, jobs, progress)
    details = _details(sides, results, _grid_limit(chosen))
    facts = found.facts(chip.arch)
    return _report(facts, target, sides, details, origins=origins, notes=found.notes)


COMPILED = ("a2", "a3")
"""Targets whose figures tell good tiles from bad ones; of Ascend 950 only the memories are read."""


def choose_target(name: str) -> tuple[Target, Device]:
    """The target and the chip to compile for: its smallest one, or the one named. Memory is equal on all."""
    for known in target_names():
        target = load_target(known)
        for chip in sorted(target.chips, key=lambda chip: chip.cube_cores):
            if name == known or name in chip.names:
                arch = chip.names[0] if name == known else name
                return target, Device(arch, chip.cube_cores, chip.vector_cores)
    raise UserError(f"unknown target {name!r}", f"known: {', '.join(target_names())}, or a chip of theirs")


def setting_for(target: Target, chip: Device, seconds: float = 300.0) -> Setting:
    """How kernels are compiled for a target that has the figures of its memories."""
    figures = target.figures
    limits = limits_of(figures["ub"].value, figures["l1"].value, figures["l0c"].value)
    how = target.compiler
    return Setting(chip.arch, limits, seconds, how.program, how.next, how.options, how.counts)


def _grid_limit(target: Target) -> int | None:
    return target.figures["grid"].value if "grid" in target.figures else None


def _captured(
    toolchain: Toolchain,
    device: Device,
    source: SourceTree,
    out: Path | None,
    *,
    only: Sequence[str] | None,
    jobs: int,
) -> dict[Side, Captured]:
    """Both sides, beside each other when there is more than one job."""
    declared = cases_for(source, only)
    wanted: dict[Side, Path | None] = {"before": None} if out is None else {"before": None, "after": out}
    with ThreadPoolExecutor(max_workers=max(1, min(jobs, len(wanted)))) as pool:
        running: dict[Side, Future[Captured]] = {
            side: pool.submit(capture, toolchain, device, source, folder, declared, only=only)
            for side, folder in wanted.items()
        }
        sides: dict[Side, Captured] = {side: future.result() for side, future in running.items()}
    if any(case["kind"] == "module" for case in declared):
        return sides
    # A corpus serves every entry of its package: what this entry does not import is another run's business.
    modules = frozenset(import_closure(source).modules)
    return {side: captured.within(modules) for side, captured in sides.items()}


def _no_launches(sides: Mapping[Side, Captured]) -> str:
    errors = [case.error for captured in sides.values() for case in captured.cases if case.error]
    last = errors[0].strip().splitlines()[-1] if errors else None
    return f"no case launches a kernel: {last}" if last else "no case launches a kernel"


def _compiled(
    toolchain: Toolchain, setting: Setting, sides: Mapping[Side, Captured], jobs: int, progress: Progress
) -> dict[str, Measurement]:
    """Each distinct IR once, whichever sides and cases ask for it; by the key of `_unit_key`."""
    wanted: dict[str, Unit] = {}
    for captured in sides.values():
        wanted.update({_unit_key(unit): unit for unit in captured.units.values()})
    results: dict[str, Measurement] = {}
    with ThreadPoolExecutor(max_workers=max(1, jobs)) as pool:
        # longest first, so that no core waits for one that was begun last
        order = sorted(wanted.items(), key=lambda item: -len(item[1].ttir))
        running = {pool.submit(compile_cached, toolchain, setting, unit): key for key, unit in order}
        for done, future in enumerate(as_completed(running), 1):
            key = running[future]
            results[key] = future.result()
            progress(wanted[key].kernel, done, len(wanted))
    return results


def _unit_key(unit: Unit) -> str:
    return cache.key("unit", unit.ttir, dict(unit.options), unit.file, unit.line)


def compile_cached(toolchain: Toolchain, setting: Setting, unit: Unit) -> Measurement:
    """A time-out or a missing program is not remembered: it may be the machine's fault."""
    name = cache.key("compiled", toolchain.identity, str(setting), _unit_key(unit))
    stored = cache.get(name)
    if stored is not None:
        return Measurement.from_json(stored)
    result = compile_unit(toolchain, setting, unit)
    if not any(message.kind in ("time-out", "missing", "crash", "silent") for message in result.messages):
        cache.put(name, result.to_json())
    return result


def _details(
    sides: Mapping[Side, Captured], results: Mapping[str, Measurement], limit: int | None
) -> Details:
    return {
        (kernel, case.name, side): _detail(launches, captured, results, limit)
        for side, captured in sides.items()
        for case in captured.cases
        for kernel, launches in _by_kernel(case).items()
    }


def _report(
    facts: dict[str, str | None],
    target: str,
    sides: Mapping[Side, Captured],
    details: Details,
    *,
    origins: Origins | None,
    notes: Sequence[str],
) -> NpuReport:
    messages = [
        _located(key, message, origins) for key, detail in details.items() for message in _said(detail)
    ]
    if "after" in sides:
        # A case that the original refuses too (a dtype that the release does not take) says nothing of the migration.
        refused = {case.name for case in sides["before"].cases if case.error}
        messages += [
            _host_failure(case) for case in sides["after"].cases if case.error and case.name not in refused
        ]
    kernels = {
        kernel: {"toolchain": facts, "target": target, "cases": _entries(kernel, details)}
        for kernel in sorted({key[0] for key in details})
    }
    every = (*notes, *_notes(sides["before"]))
    return NpuReport(facts, "ran", None, target, kernels, tuple(messages), details, every)


def _by_kernel(case: CapturedCase) -> dict[str, list[Launch]]:
    grouped: dict[str, list[Launch]] = {}
    for launch in case.launches:
        grouped.setdefault(launch.kernel, []).append(launch)
    return grouped


def _detail(
    launches: Sequence[Launch], captured: Captured, results: Mapping[str, Measurement], grid_limit: int | None
) -> Detail:
    measured: dict[str, Measurement] = {}
    for launch in launches:
        unit = captured.units.get(launch.unit)
        found = captured.broken[launch.unit] if unit is None else results[_unit_key(unit)]
        if unit is not None and grid_limit is not None and launch.programs > grid_limit:
            found = replace(found, messages=(*found.messages, _over(launch, unit, grid_limit)))
        before = measured.get(launch.unit)
        if before is None or len(found.messages) > len(before.messages):
            measured[launch.unit] = found
    return Detail(tuple(measured.values()), max(launch.programs for launch in launches), len(launches))


def _over(launch: Launch, unit: Unit, limit: int) -> Message:
    """The compiler never sees the grid; the run time refuses it."""
    text = f"grid of {launch.programs} programs; the run time refuses more than {limit}"
    return Message("grid", text, unit.file, unit.line)


def _said(detail: Detail) -> Iterable[Message]:
    seen: set[Message] = set()
    for measurement in detail.measurements:
        for message in measurement.messages:
            if message not in seen:
                seen.add(message)
                yield message


def _located(key: tuple[str, str, Side], message: Message, origins: Origins | None) -> LocatedMessage:
    kernel, case, side = key
    origin = Origin(message.line) if side == "before" else _origin(message, origins or {})
    place = (message.file, message.line, origin.line, origin.rules)
    return LocatedMessage(side, kernel, case, message.kind, message.text, *place)


def _origin(message: Message, origins: Origins) -> Origin:
    lines = origins.get(message.file or "", ())
    at = message.line or 0
    return lines[at - 1] if 0 < at <= len(lines) else Origin(None)


def _host_failure(case: CapturedCase) -> LocatedMessage:
    """Migrated host code that raises where no kernel could be launched."""
    last = (case.error or "").strip().splitlines()[-1]
    return LocatedMessage("after", "", case.name, "front-end", f"host code raised: {last}", None, None)


def _notes(captured: Captured) -> Iterable[str]:
    for case in captured.cases:
        yield from (f"{case.name}: {note}" for note in case.notes)
        if case.error:
            yield f"{case.name}: the original's host code raised: {case.error.strip().splitlines()[-1]}"


def _entries(kernel: str, details: Details) -> list[dict[str, Any]]:
    names = dict.fromkeys(case for name, case, _ in details if name == kernel)
    sides: tuple[Side, Side] = ("before", "after")
    return [
        {"case": case, **{side: _entry(details.get((kernel, case, side))) for side in sides}}
        for case in names
    ]


def _entry(detail: Detail | None) -> dict[str, Any] | None:
    """The M of run.json: over all specialisations that one case launches, the worst of each figure."""
    if detail is None:
        return None
    every = detail.measurements
    errors = [m.error for m in every if m.error]
    return {
        "fits": _all_fit(every),
        **{f"{name.lower()}_percent": _worst_use(every, name) for name in ("UB", "L1", "L0C")},
        "scalar_iterations": _worst([m.scalar_iterations for m in every]),
        "discrete_elements": _worst([m.discrete_elements for m in every]),
        "sub_block": _sub_block(every),
        "kernels": detail.launches,
        "programs": detail.programs,
        "seconds": round(sum(m.seconds for m in every), 3),
        "error": errors[0] if errors else None,
    }


def _all_fit(every: Sequence[Measurement]) -> bool | None:
    answers = [m.fits for m in every]
    return False if False in answers else None if None in answers else True


def _worst(values: Sequence[int | None]) -> int | None:
    known = [value for value in values if value is not None]
    return max(known) if len(known) == len(values) else None


def _worst_use(every: Sequence[Measurement], name: str) -> float | None:
    known = [value for value in (m.percent(name) for m in every) if value is not None]
    return max(known) if len(known) == len(every) else None


def _sub_block(every: Sequence[Measurement]) -> str | None:
    kinds = [m.sub_block for m in every]
    if None in kinds:
        return None
    return next((kind for kind in ("guarded", "tiled", "none") if kind in kinds), None)
