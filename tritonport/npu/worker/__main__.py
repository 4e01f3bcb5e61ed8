"""The capture worker: `python worker REQUEST.json`, inside the toolchain's environment.

It imports nothing of tritonport, which that environment does not have. What it found is written to
`launches.json` in the request's folder; it exits 0 also when a case fails, because that is a result.
"""

from __future__ import annotations

import importlib
import importlib.metadata
import json
import os
import sys
import time
import traceback
from pathlib import Path
from typing import Any

import npu_cases
import npu_launch
import npu_lower
import npu_stubs


def main(request_path: str) -> None:
    request: dict[str, Any] = json.loads(Path(request_path).read_text())
    folder = Path(request["folder"])
    sys.path[:0] = request["sys_path"]
    sys.argv = [sys.argv[0]]
    npu_stubs.install(npu_stubs.Device(**request["device"]))
    problem = _activate() if request["activate"] else None
    recorder = npu_launch.Recorder(variants=request.get("variants") or {})
    cases = [] if problem else [_case(case, recorder) for case in _expanded(request)]
    roots = [(root, name) for root, name in request["roots"]]
    units = {key: npu_lower.lower(unit, folder, roots) for key, unit in recorder.units.items()}
    answer = {"problem": problem, "cases": cases, "units": units, "versions": _versions()}
    (folder / "launches.json").write_text(json.dumps(answer, sort_keys=True))


def _activate() -> str | None:
    """`import activate` of a migrated tree makes the package's imports use its modules."""
    try:
        importlib.import_module("activate")
    except Exception as error:
        return f"the migrated tree cannot be activated: {type(error).__name__}: {error}"
    return None


def _expanded(request: dict[str, Any]) -> list[dict[str, Any]]:
    """One case per `make_*inputs` function of a module whose cases are not declared."""
    cases: list[dict[str, Any]] = []
    for case in request["cases"]:
        if case["kind"] != "module" or case.get("inputs"):
            cases.append(case)
            continue
        try:
            found = npu_cases.module_inputs(case["path"], case.get("module"))
        except Exception:
            cases.append({**case, "inputs": "make_inputs"})  # fails again when it runs, and says why there
            continue
        cases += [{**case, "inputs": name, "name": _name(case["name"], name)} for name in found]
    wanted = request.get("only")
    return cases if wanted is None else [case for case in cases if case["name"] in wanted]


def _name(base: str, inputs: str) -> str:
    return base if inputs == "make_inputs" else f"{base}/{inputs}"


def _case(case: dict[str, Any], recorder: npu_launch.Recorder) -> dict[str, Any]:
    recorder.launches, recorder.tried = [], []
    start, error, notes = time.monotonic(), None, list[str]()
    with npu_launch.capturing(recorder):
        try:
            notes = npu_cases.run(case)
        except Exception:
            error = traceback.format_exc(limit=-4)
    seconds = round(time.monotonic() - start, 3)
    return {
        "case": case["name"],
        "error": error,
        "notes": notes,
        "seconds": seconds,
        "launches": recorder.launches,
        "tried": recorder.tried,
    }


def _versions() -> dict[str, str | None]:
    found: dict[str, str | None] = {}
    for name in ("triton-ascend", "ascendnpu-ir", "torch"):
        try:
            found[name] = importlib.metadata.version(name)
        except importlib.metadata.PackageNotFoundError:
            found[name] = None
    return found


if __name__ == "__main__":
    # one thread: the host code is small, and a forked child of a threaded process may hang
    os.environ.setdefault("OMP_NUM_THREADS", "1")
    main(sys.argv[1])
