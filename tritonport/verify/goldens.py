"""Goldens: what the originals computed, kept so that another machine can hold migrated code against it.

A folder with one sub-folder per unit (inputs, outputs, float64 reference, every call of a launching function,
as safetensors and JSON) and a manifest with versions and digests. A machine that cannot run the originals
replays it.
"""

from __future__ import annotations

import json
import shutil
import tempfile
import time
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

from tritonport import __version__
from tritonport.declared import Declared
from tritonport.errors import UserError
from tritonport.sources.tree import SourceTree, digest_bytes
from tritonport.verify.cases import Case, CaseSet, Script, Unit
from tritonport.verify.device.probe import Found
from tritonport.verify.device.settings import DeviceSetup
from tritonport.verify.messages import pack_cases, pack_unit, unpack_cases, unpack_unit
from tritonport.verify.model import CaseResult, KernelTarget, TierReport
from tritonport.verify.schedule import Progress, run_each
from tritonport.verify.slots import Job, Slot
from tritonport.verify.tier import report_of
from tritonport.verify.versions import check_versions, processor_name

MANIFEST = "manifest.json"
FORMAT = "tritonport.goldens/2"
INTERPRETER = "cpu, Triton's interpreter"


@dataclass(frozen=True, slots=True)
class RecordedOn:
    """A device to record on: its settings, and what the probe found there."""

    setup: DeviceSetup
    found: Found


def record(
    source: SourceTree,
    cases: CaseSet,
    folder: Path,
    jobs: int,
    progress: Progress,
    device: RecordedOn | None = None,
) -> int:
    """Run every unit of the originals and keep it in a new folder. Returns how many units ran.

    device: where to run, Triton's interpreter by default. Layers of the corpus stay out: their packages may be others
    elsewhere. Raises UserError when the folder exists, when the versions cannot run the originals, when the device is
    not there, and when nothing ran.
    """
    cases = replace(cases, scripts=tuple(script for script in cases.scripts if not script.shipped))
    made = _made_with(device)
    if folder.exists():
        raise UserError(f"{folder} exists", "goldens are recorded into a new folder")
    own = [script.id for script in cases.scripts if script.module is None]
    if own:
        raise UserError(f"a case file outside the sources cannot travel with goldens: {own[0]}")
    folder = folder.resolve()  # workers run in another folder
    folder.parent.mkdir(parents=True, exist_ok=True)
    stage = Path(tempfile.mkdtemp(prefix=f".{folder.name}.", dir=folder.parent))
    try:
        answers = _record(source, cases, stage, jobs, progress, device)
        ran = sum("launches" in answer for answer in answers)
        if not ran:
            raise UserError(f"no case ran: {answers[0].get('error') or answers[0].get('skipped')}")
        manifest = _manifest(source, cases, stage, answers, made)
        (stage / MANIFEST).write_text(json.dumps(manifest, indent=1), encoding="utf-8")
        stage.chmod(0o755)
        stage.rename(folder)
    finally:
        shutil.rmtree(stage, ignore_errors=True)
    return ran


def _made_with(device: RecordedOn | None) -> dict[str, str]:
    """What decides the bits of a result: device, versions, and in the interpreter the processor, whose BLAS
    kernels add in their own order."""
    if device is not None:
        if device.found.why is not None:
            raise UserError(device.found.why)
        return dict(device.found.facts)
    versions, wrong = check_versions()
    if wrong is not None:
        raise UserError(wrong)
    return {"device": INTERPRETER, "processor": processor_name(), **versions}


def _record(
    source: SourceTree,
    cases: CaseSet,
    stage: Path,
    jobs: int,
    progress: Progress,
    device: RecordedOn | None,
) -> list[dict[str, Any]]:
    job = Job.make(source, stage, (), cases, hazard=False)
    if device is not None:
        job, jobs = job.on(device.setup, device.found.processors), 1
    with tempfile.TemporaryDirectory(prefix="tritonport-record-") as logs:
        return run_each(job, Slot.first, stage, Path(logs), max(1, jobs), progress)


def _manifest(
    source: SourceTree,
    cases: CaseSet,
    stage: Path,
    answers: Sequence[Mapping[str, Any]],
    made: Mapping[str, str],
) -> dict[str, Any]:
    units = cases.units
    manifest = {
        "goldens": FORMAT,
        "tool": __version__,
        "source": _about(source),
        "made": dict(made),
        "cases": pack_cases(cases),
        "units": [
            {"unit": _portable(u, source), "answer": dict(a)} for u, a in zip(units, answers, strict=True)
        ],
        "files": _digests(stage),
    }
    return {**manifest, "digest": _digest(manifest)}


def _portable(unit: Unit, source: SourceTree) -> dict[str, Any]:
    """The unit without a path of this machine."""
    if isinstance(unit, Script):
        unit = replace(unit, file=unit.file.resolve().relative_to(source.root.resolve()))
    return pack_unit(unit)


def _about(source: SourceTree) -> dict[str, str | None]:
    return {
        "distribution": source.distribution,
        "version": source.version,
        "package": source.package,
        "digest": _sources_digest(source),
    }


def _sources_digest(source: SourceTree) -> str:
    """Over every Python file that the originals may run."""
    root = source.root / source.package if source.package else source.entry_path
    files = sorted(root.rglob("*.py")) if root.is_dir() else [root]
    lines = [f"{f.relative_to(source.root).as_posix()} {digest_bytes(f.read_bytes())}" for f in files]
    return digest_bytes("\n".join(lines).encode())


def _digest(manifest: Mapping[str, Any]) -> str:
    """Of everything in a manifest but its own digest."""
    plain = {name: value for name, value in manifest.items() if name != "digest"}
    return digest_bytes(json.dumps(plain, sort_keys=True).encode())


def _digests(folder: Path) -> dict[str, str]:
    files = sorted(p for p in folder.rglob("*") if p.is_file() and p.name != MANIFEST)
    return {p.relative_to(folder).as_posix(): digest_bytes(p.read_bytes()) for p in files}


def replay(
    *,
    goldens: Path,
    source: SourceTree,
    out: Path,
    kernels: Sequence[KernelTarget],
    jobs: int,
    progress: Progress,
) -> TierReport:
    """Hold migrated code against goldens in the interpreter; the originals are not run.

    Equal bits are asked for where they were recorded with these versions on such a processor, else, and where a
    device recorded them, a result within the tolerance. Raises UserError for goldens that are damaged, incomplete,
    or of another package or version.
    """
    made = _made_with(None)
    manifest = read_manifest(goldens, source)
    targets = tuple(kernels) if manifest["made"] == made else _within_tolerance(manifest, kernels)
    job, answers = _replay_job(manifest, source, out, targets)
    versions = {"goldens": goldens_origin(manifest), **made}
    return _replayed("interpret", job, answers, goldens, kernels, out, jobs, progress, versions)


def replay_on(
    tier: str,
    setup: DeviceSetup,
    found: Found,
    goldens: Path,
    source: SourceTree,
    out: Path,
    kernels: Sequence[KernelTarget],
    progress: Progress,
) -> TierReport:
    """The same on a device. Its arithmetic rounds in its own way: every comparison is within the tolerance."""
    manifest = read_manifest(goldens, source)
    job, answers = _replay_job(manifest, source, out, kernels)
    job = job.on(setup, found.processors)
    versions = {"goldens": goldens_origin(manifest), **found.facts}
    return _replayed(tier, job, answers, goldens, kernels, out, 1, progress, versions)


def goldens_origin(manifest: Mapping[str, Any]) -> str:
    return ", ".join(f"{name} {value}" for name, value in manifest["made"].items())


def _within_tolerance(
    manifest: Mapping[str, Any], kernels: Sequence[KernelTarget]
) -> tuple[KernelTarget, ...]:
    """Every kernel as one that promises no bits, unchanged ones too."""
    launched = {name for entry in manifest["units"] for name in entry["answer"].get("launches", {})}
    return tuple(
        KernelTarget(name, ("reordered",)) for name in sorted(launched | {kernel.name for kernel in kernels})
    )


def _replay_job(
    manifest: Mapping[str, Any], source: SourceTree, out: Path, targets: Sequence[KernelTarget]
) -> tuple[Job, list[dict[str, Any]]]:
    units, cases, answers = _unpack(manifest, source)
    if manifest["made"].get("device") != INTERPRETER:  # its matrix units took products of fp32 operands
        cases = replace(cases, tolerances=replace(cases.tolerances, tf32=True))
    return Job.make(source, out, targets, replace(cases, **units), hazard=False), answers


def _replayed(
    tier: str,
    job: Job,
    answers: Sequence[Mapping[str, Any]],
    goldens: Path,
    kernels: Sequence[KernelTarget],
    out: Path,
    jobs: int,
    progress: Progress,
    versions: Mapping[str, str],
) -> TierReport:
    started = time.perf_counter()

    def second(slot: Slot, index: int) -> CaseResult:
        return slot.second(index, answers[index])

    with tempfile.TemporaryDirectory(prefix="tritonport-replay-") as logs:
        results = run_each(job, second, goldens.resolve(), Path(logs), max(1, jobs), progress)
    return report_of(tier, kernels, tuple(results), out, dict(versions), started)


def read_manifest(goldens: Path, source: SourceTree) -> dict[str, Any]:
    """The checked manifest of a goldens folder."""
    path = goldens / MANIFEST
    if not path.is_file():
        raise UserError(f"{goldens} holds no goldens: {MANIFEST} is missing")
    try:
        manifest = json.loads(path.read_text(encoding="utf-8"))
        files, about, made = manifest["files"], manifest["source"], manifest["goldens"]
        written = manifest["digest"] if made == FORMAT else None
    except (ValueError, KeyError, TypeError) as error:
        raise UserError("not a manifest of goldens", "record them again", file=str(path)) from error
    if made != FORMAT:
        raise UserError(f"goldens of another format: {made}", f"this version reads {FORMAT}", file=str(path))
    if written != _digest(manifest):
        raise UserError("the manifest was changed since it was recorded", "record again", str(path))
    _check_same(about, source, path)
    _check_files(goldens, files)
    return manifest


def _check_same(about: Mapping[str, Any], source: SourceTree, path: Path) -> None:
    mine = _about(source)
    if {**mine, "digest": None} != {**about, "digest": None}:
        raise UserError(
            f"these goldens are of {_named(about)}, the sources are {_named(mine)}", file=str(path)
        )
    if mine["digest"] != about["digest"]:
        raise UserError(f"these goldens are of other sources of {_named(about)}", "record again", str(path))


def _named(about: Mapping[str, Any]) -> str:
    return f"{about['distribution'] or about['package']} {about['version'] or ''}".strip()


def _check_files(goldens: Path, files: Mapping[str, str]) -> None:
    found = _digests(goldens)
    if missing := sorted(files.keys() - found.keys()):
        raise UserError(f"incomplete goldens: {missing[0]} is missing", "copy the whole folder", str(goldens))
    if extra := sorted(found.keys() - files.keys()):
        raise UserError(
            f"a file that does not belong to these goldens: {extra[0]}", "remove it", str(goldens)
        )
    if changed := sorted(name for name, digest in files.items() if found[name] != digest):
        raise UserError(f"{changed[0]} was changed since it was recorded", "record again", str(goldens))


def _unpack(
    manifest: Mapping[str, Any], source: SourceTree
) -> tuple[dict[str, tuple[Any, ...]], CaseSet, list[dict[str, Any]]]:
    """Units as the fields of a case set, the operators and tolerances, and the original's answers by unit."""
    units = [_here(unpack_unit(entry["unit"]), source) for entry in manifest["units"]]
    kinds: dict[str, type[Any]] = {"cases": Case, "declared": Declared, "scripts": Script}
    members = {name: tuple(unit for unit in units if isinstance(unit, kind)) for name, kind in kinds.items()}
    answers = [entry["answer"] for entry in manifest["units"]]
    return members, unpack_cases(manifest["cases"]), answers


def _here(unit: Unit, source: SourceTree) -> Unit:
    return replace(unit, file=source.root / unit.file) if isinstance(unit, Script) else unit
