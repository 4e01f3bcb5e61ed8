"""An output folder as its lock file describes it, and the sources that it was made from."""

from __future__ import annotations

import json
from collections.abc import Callable, Collection, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from tritonport.discover import discover
from tritonport.errors import UserError
from tritonport.record import KernelRecord, RuleClass, RuleUse, Unresolved
from tritonport.sources import resolve
from tritonport.sources.tree import SourceTree, digest_bytes
from tritonport.verify.model import KernelTarget

LOCK = "tritonport.lock.json"


@dataclass(frozen=True, slots=True)
class Output:
    """folder: absolute. lock: the parsed lock file."""

    folder: Path
    lock: Mapping[str, Any]

    @property
    def source(self) -> Mapping[str, Any]:
        return self.lock["source"]

    @property
    def settings(self) -> Mapping[str, Any]:
        return self.lock["settings"]


def read_output(folder: Path) -> Output:
    """Raises UserError for a folder that migrate did not make, and for one that was changed since."""
    path = folder / LOCK
    if not path.is_file():
        raise UserError(f"{folder} was not made by tritonport migrate: {LOCK} is missing")
    try:
        lock = json.loads(path.read_text(encoding="utf-8"))
        files = {name: digests["output"] for name, digests in lock["files"].items()}
    except (ValueError, KeyError, TypeError, AttributeError) as error:
        raise UserError("not a lock file of tritonport", "run migrate again", file=str(path)) from error
    for name, digest in files.items():
        file = folder / name
        if not file.is_file() or digest_bytes(file.read_bytes()) != digest:
            raise UserError(f"{name} is not what migrate wrote", "run migrate again", file=str(path))
    return Output(folder.resolve(), lock)


def source_of(output: Output, src: str | None, from_spec: str | None) -> SourceTree:
    """The sources of an output: as given, else the release that the lock names. Their bytes must be the
    lock's."""
    about = output.source
    if src is None and from_spec is None and not (about.get("distribution") and about.get("version")):
        raise UserError(
            f"{output.folder} was made from sources on disk", "name them: tritonport verify OUT SRC"
        )
    if from_spec is None and src is None:
        from_spec = f"{about['distribution']}=={about['version']}"
    source = resolve(src if src is not None else str(about["entry"]), from_spec=from_spec)
    for name, digests in output.lock["files"].items():
        file = source.root / name
        generated = not file.exists()  # the run-time module has no original
        if not generated and digest_bytes(file.read_bytes()) != digests["source"]:
            raise UserError(
                f"{output.folder} was made from other sources: {name} differs", "migrate these sources first"
            )
    return source


def kernels_of(
    output: Output, source: SourceTree, class_of: Callable[[str], RuleClass | None]
) -> tuple[KernelRecord, ...]:
    """What the lock says of each kernel, with its place in the sources. class_of: a rule's exactness
    class."""
    known = {kernel.name: kernel for kernel in discover(source).kernels}
    records: list[KernelRecord] = []
    for name, entry in output.lock["kernels"].items():
        kernel = known.get(name)
        if kernel is None:
            raise UserError(
                f"the lock of {output.folder} lists a kernel that the sources do not have: {name}"
            )
        rules = tuple(RuleUse(s, class_of(s) or "reordered", n) for s, n in entry["rules"].items())
        file = str(kernel.file)
        unresolved = tuple(
            Unresolved(slug, file, kernel.line, why)
            for slug, _, why in (item.partition(": ") for item in entry["unresolved"])
        )
        records.append(
            KernelRecord(
                name,
                file,
                kernel.line,
                entry["outcome"],
                rules,
                unresolved,
                reachable=kernel.reachable,
                apart=kernel.apart,
            )
        )
    return tuple(records)


def targets_of(kernels: tuple[KernelRecord, ...], resizing: Collection[str] = ()) -> tuple[KernelTarget, ...]:
    """The kernels that a tier has to prove: those that were rewritten, context-parallel ones apart."""
    return tuple(
        target_of(kernel, resizing)
        for kernel in kernels
        if kernel.rules and kernel.reachable and kernel.apart is None and kernel.outcome != "not-converted"
    )


def target_of(kernel: KernelRecord, resizing: Collection[str] = ()) -> KernelTarget:
    """A kernel as a tier has to prove it.

    resizing: for a tier with a device, the rules that change tile sizes. A compiler adds up a tile's row in the order
    of its layout, so the last bit may differ there, also where no sum reaches beyond what the original sums.
    """
    classes = {use.rule_class for use in kernel.rules} or {"exact"}
    if any(use.slug in resizing for use in kernel.rules):
        classes |= {"reordered"}
    return KernelTarget(kernel.name, tuple(sorted(classes)))
