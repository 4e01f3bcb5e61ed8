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
from dataclasses import replace
from pathlib import Path
from typing import Any

from tritonport import __version__
from tritonport.errors import UserError
from tritonport.sources.tree import SourceTree, digest_bytes
from tritonport.verify.cases import Case, CaseSet, Script
from tritonport.verify.messages import pack_cases, pack_unit, unpack_cases, unpack_unit
from tritonport.verify.model import CaseResult, KernelTarget, TierReport
from tritonport.verify.schedule import Progress, run_each
from tritonport.verify.slots import Job, Slot
from tritonport.verify.tier import report_of
from tritonport.verify.versions import check_versions

MANIFEST = "manifest.json"
FORMAT = "tritonport.goldens/1"


def record(source: SourceTree, cases: CaseSet, folder: Path, jobs: int, progress: Progress) -> int:
    """Run every unit of the originals and keep it in a new folder. Returns how many units ran.

    Raises UserError when the folder exists, when the versions cannot run the originals, and when nothing ran.
    """
    versions, wrong = check_versions()
    if wrong is not None:
        raise UserError(wrong)
    if folder.exists():
        raise UserError(f"{folder} exists", "goldens are recorded into a new folder")
    own = [script.id for script in cases.scripts if script.module is None]
    if own:
        raise UserError(f"a case file outside the sources cannot travel with goldens: {own[0]}")
    folder = folder.resolve()  # workers run in another folder
    folder.parent.mkdir(parents=True, exist_ok=True)
    stage = Path(tempfile.mkdtemp(prefix=f".{folder.name}.", dir=folder.parent))
    try:
        answers = _record(source, cases, stage, jobs, progress)
        ran = sum("launches" in answer for answer in answers)
        if not ran:
            raise UserError(f"no case ran: {answers[0].get('error') or answers[0].get('skipped')}")
        manifest = _manifest(source, cases, stage, answers, versions)
        (stage / MANIFEST).write_text(json.dumps(manifest, indent=1), encoding="utf-8")
        stage.chmod(0o755)
        stage.rename(folder)
    finally:
        shutil.rmtree(stage, ignore_errors=True)
    return ran


def _record(
    source: SourceTree, cases: CaseSet, stage: Path, jobs: int, progress: Progress
) -> list[dict[str, Any]]:
    job = Job.make(source, stage, (), cases, hazard=False)
    with tempfile.TemporaryDirectory(prefix="tritonport-record-") as logs:
        return run_each(job, Slot.first, stage, Path(logs), max(1, jobs), progress)


def _manifest(
    source: SourceTree,
    cases: CaseSet,
    stage: Path,
    answers: Sequence[Mapping[str, Any]],
    versions: Mapping[str, str],
) -> dict[str, Any]:
    units = (*cases.cases, *cases.scripts)
    return {
        "goldens": FORMAT,
        "tool": __version__,
        "source": {"distribution": source.distribution, "version": source.version, "package": source.package},
        "device": "cpu, Triton's interpreter",
        "versions": dict(versions),
        "cases": pack_cases(cases),
        "units": [{"unit": pack_unit(u), "answer": dict(a)} for u, a in zip(units, answers, strict=True)],
        "files": _digests(stage),
    }


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
    """Hold migrated code against goldens; the originals are not run.

    Raises UserError for goldens that are damaged, incomplete, or of another package or version.
    """
    versions, wrong = check_versions()
    if wrong is not None:
        raise UserError(wrong)
    manifest = read_manifest(goldens, source)
    units, cases, answers = _unpack(manifest)
    started = time.perf_counter()
    job = Job.make(source, out, kernels, replace(cases, **units), hazard=False)

    def second(slot: Slot, index: int) -> CaseResult:
        return slot.second(index, answers[index])

    with tempfile.TemporaryDirectory(prefix="tritonport-replay-") as logs:
        results = run_each(job, second, goldens.resolve(), Path(logs), max(1, jobs), progress)
    return report_of("interpret", kernels, tuple(results), out, versions, started)


def read_manifest(goldens: Path, source: SourceTree) -> dict[str, Any]:
    """The checked manifest of a goldens folder."""
    path = goldens / MANIFEST
    if not path.is_file():
        raise UserError(f"{goldens} holds no goldens: {MANIFEST} is missing")
    try:
        manifest = json.loads(path.read_text(encoding="utf-8"))
        files, about, made = manifest["files"], manifest["source"], manifest["goldens"]
    except (ValueError, KeyError, TypeError) as error:
        raise UserError("not a manifest of goldens", "record them again", file=str(path)) from error
    if made != FORMAT:
        raise UserError(f"goldens of another format: {made}", f"this version reads {FORMAT}", file=str(path))
    _check_same(about, source, path)
    _check_files(goldens, files)
    return manifest


def _check_same(about: Mapping[str, Any], source: SourceTree, path: Path) -> None:
    mine = {"distribution": source.distribution, "version": source.version, "package": source.package}
    if mine != dict(about):
        raise UserError(
            f"these goldens are of {_named(about)}, the sources are {_named(mine)}", file=str(path)
        )


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
    manifest: Mapping[str, Any],
) -> tuple[dict[str, tuple[Any, ...]], CaseSet, list[dict[str, Any]]]:
    """Units as the fields of a case set, the operators and tolerances, and the original's answers by unit."""
    units = [unpack_unit(entry["unit"]) for entry in manifest["units"]]
    cases = tuple(unit for unit in units if isinstance(unit, Case))
    scripts = tuple(unit for unit in units if isinstance(unit, Script))
    answers = [entry["answer"] for entry in manifest["units"]]
    return {"cases": cases, "scripts": scripts}, unpack_cases(manifest["cases"]), answers
