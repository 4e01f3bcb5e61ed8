"""Both sides of the hazard tier: whole operators under the traps."""

from __future__ import annotations

import time
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import asdict, replace
from pathlib import Path
from typing import Any

from tritonport.verify.child import encode
from tritonport.verify.child.hazard.memory import SAME_VALUE, UNWRITTEN, WRITTEN_TWICE
from tritonport.verify.child.hazard.monitor import Monitor
from tritonport.verify.child.hazard.sizes import SIZE_KINDS
from tritonport.verify.child.launches import Counter as Launches
from tritonport.verify.child.migrated import Judge, attempt, forced_cores
from tritonport.verify.child.poison import poisoned_allocations
from tritonport.verify.child.shims.host import chosen_configs, pin_configs
from tritonport.verify.child.units import Unit
from tritonport.verify.model import Finding
from tritonport.verify.tolerance import ToleranceSpec


class HazardOriginal:
    """Runs the unit once as it is, for the values to compare with, and once under the traps."""

    def __init__(self, roots: tuple[Path, ...]) -> None:
        self._roots = roots

    def run(self, unit: Unit, folder: Path) -> dict[str, Any]:
        started = time.perf_counter()
        pin_configs({})
        encode.save_value(folder, "inputs", unit.inputs())
        with poisoned_allocations(), Launches() as counter:
            outputs = unit.run(encode.load_value(folder, "inputs"))
        encode.save_value(folder, "outputs", outputs)
        encode.save_value(folder, "reference", unit.reference(encode.load_value(folder, "inputs")))
        with poisoned_allocations(), Monitor("original", self._roots) as monitor:
            unit.run(encode.load_value(folder, "inputs"))
        return {
            "launches": counter.to_json(),
            "configs": chosen_configs(),
            "hosts": [],
            "findings": [asdict(finding) for finding in monitor.findings],
            "seconds": time.perf_counter() - started,
        }


def weighed(findings: Iterable[Finding], original: Iterable[Mapping[str, Any]]) -> Iterator[Finding]:
    """What only larger sizes make wrong is an error where the original does not have it.

    What upstream's tasks write twice, one value each time, is no error. Nor is it one to load as many unwritten lanes
    in a kernel as upstream does, which drops them later: that they do not reach a result is what the comparison shows.
    """
    findings, original = list(findings), list(original)
    known = {(f["kind"], f["kernel"], _argument(f["detail"])) for f in original}
    upstreams = _lanes((f["kernel"], f["count"]) for f in original if f["kind"] == UNWRITTEN)
    own = _lanes((f.kernel, f.count) for f in findings if f.kind == UNWRITTEN)
    for finding in findings:
        new = (finding.kind, finding.kernel, _argument(finding.detail)) not in known
        twice = finding.kind == WRITTEN_TWICE and finding.detail.endswith(SAME_VALUE) and not new
        unwritten = finding.kind == UNWRITTEN and own[finding.kernel] <= upstreams[finding.kernel]
        if finding.kind in SIZE_KINDS and new:
            yield replace(finding, severity="error")
        elif twice or unwritten:
            yield replace(finding, severity="warning")
        else:
            yield finding


def _lanes(found: Iterable[tuple[str, int]]) -> Counter[str]:
    """How many lanes each kernel has in all."""
    lanes: Counter[str] = Counter()
    for kernel, count in found:
        lanes[kernel] += count
    return lanes


def _argument(detail: str) -> str:
    return detail.partition(":")[0]


class HazardMigrated:
    """The migrated unit under the traps, compared with what the original computed without them."""

    def __init__(self, roots: tuple[Path, ...], exact: Mapping[str, bool], tolerances: ToleranceSpec) -> None:
        self._roots, self._judge = roots, Judge(exact, tolerances)

    def run(self, unit: Unit, folder: Path, original: dict[str, Any], cores: int) -> dict[str, Any]:
        started = time.perf_counter()
        pin_configs(original["configs"])
        values = encode.load_value(folder, "inputs")
        monitor = Monitor("migrated", self._roots)
        with forced_cores(cores), poisoned_allocations(), Launches() as counter, monitor:
            checks = attempt(
                "operator", lambda: self._judge.whole(unit, folder, values, original["launches"])
            )
        return {
            "launches": counter.to_json(),
            "checks": [check.to_json() for check in checks],
            "hosts": [],
            "findings": [asdict(finding) for finding in weighed(monitor.findings, original["findings"])],
            "cores": cores,
            "seconds": time.perf_counter() - started,
        }
