"""The tiers with a device: originals and migrated kernels on one GPU, and goldens replayed on an NPU.

One pair of worker processes works on one device, so that times are nobody else's.
"""

from __future__ import annotations

import tempfile
import time
from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path

from tritonport.sources.tree import SourceTree
from tritonport.verify.cases import CaseSet, case_set_for
from tritonport.verify.device.corpus import DeviceCorpus, device_corpus, with_cases
from tritonport.verify.device.probe import Found, look_for
from tritonport.verify.device.settings import DeviceKind, DeviceSetup
from tritonport.verify.goldens import RecordedOn, replay_on
from tritonport.verify.model import KernelTarget, TierReport, not_run
from tritonport.verify.schedule import Progress, run_each
from tritonport.verify.slots import Job, Slot
from tritonport.verify.tier import NO_CASES, report_of

GPU = DeviceSetup("cuda", repeats=2, cores=(0, 7, 65535), timed=5)
"""Replays with a program per multiprocessor, with a number that divides no grid, and with more than any has tasks
here. Twice: the first launch and one more."""

NPU = DeviceSetup("npu", repeats=10, comparable=False)
"""Ten launches, the first and second among them; the cores that the NPU has. Its arithmetic rounds as it does, so
every comparison is within the tolerance."""

GOLDENS_WANTED = (
    "an NPU runs no original: record goldens elsewhere with verify OUT --record DIR, and give DIR by --replay"
)


def run_gpu(
    *,
    source: SourceTree,
    out: Path,
    kernels: Sequence[KernelTarget],
    cases: CaseSet | None,
    progress: Progress,
    goldens: Path | None = None,
    index: int = 0,
    full: bool = False,
    settings: DeviceSetup = GPU,
) -> TierReport:
    """Both sides on one GPU, or migrated code alone against goldens.

    cases: the user's own; None takes those of the corpus for devices, else the entry's own scripts. full: the
    corpus' long matrix. settings: another device or other numbers, for tests.
    """
    targets = tuple(kernels)
    setup = replace(settings, index=index)
    found = look_for(setup.kind, index)
    if found.why is not None:
        return not_run("gpu", found.why, targets)
    if goldens is not None:
        held = replace(setup, comparable=False)
        return replay_on("gpu", held, found, goldens, source, out, targets, progress)
    corpus = with_cases(device_corpus(source, full=full), cases)
    chosen = corpus.cases or case_set_for(source)
    if chosen is None or not len(chosen):
        return not_run("gpu", NO_CASES, targets)
    started = time.perf_counter()
    job = _job(source, out, targets, chosen, with_corpus(setup, corpus), found)
    with tempfile.TemporaryDirectory(prefix="tritonport-gpu-") as scratch:
        results = tuple(run_each(job, Slot.run, Path(scratch), Path(scratch), 1, progress))
    return report_of("gpu", targets, results, out, dict(found.facts), started)


def run_npu(
    *,
    source: SourceTree,
    out: Path,
    kernels: Sequence[KernelTarget],
    progress: Progress,
    goldens: Path | None,
    index: int = 0,
    settings: DeviceSetup = NPU,
) -> TierReport:
    """Migrated code on one NPU against goldens."""
    targets = tuple(kernels)
    found = look_for(settings.kind, index)
    if found.why is not None:
        return not_run("npu-run", found.why, targets)
    if goldens is None:
        return not_run("npu-run", GOLDENS_WANTED, targets)
    setup = with_corpus(replace(settings, index=index), device_corpus(source, full=False))
    return replay_on("npu-run", setup, found, goldens, source, out, targets, progress)


def recording_on(kind: DeviceKind, index: int, source: SourceTree) -> RecordedOn:
    """Where `record` runs the originals. A device that is not there is told by `record`."""
    setup = DeviceSetup(kind, index)
    return RecordedOn(with_corpus(setup, device_corpus(source, full=False)), look_for(kind, index))


def with_corpus(setup: DeviceSetup, corpus: DeviceCorpus) -> DeviceSetup:
    return replace(setup, environment=corpus.environment, waivers=corpus.waivers)


def _job(
    source: SourceTree,
    out: Path,
    targets: Sequence[KernelTarget],
    cases: CaseSet,
    setup: DeviceSetup,
    found: Found,
) -> Job:
    return Job.make(source, out, targets, cases, hazard=False).on(setup, found.processors)
