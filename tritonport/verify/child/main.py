"""A worker: reads one JSON request a line from standard input, answers one JSON line each on standard output.

Whatever the code under test prints goes to standard error. A request never ends the worker; its answer says
`{"error": one line}`. The worker ends when its standard input does, also in the middle of a request.
"""

from __future__ import annotations

import json
import os
import queue
import sys
import threading
import traceback
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from tritonport.verify.messages import Setup, unpack_setup, unpack_unit


class Worker:
    """One side of a comparison; set up once, then runs unit after unit."""

    def __init__(self, setup: Setup) -> None:
        self._setup = setup
        for folder in reversed(setup.paths):
            sys.path.insert(0, folder)
        if setup.device is not None:
            from tritonport.verify.child.device.start import make_side

            self._side: Any = make_side(setup, setup.device)
            return
        from tritonport.verify.child import launches, shims

        shims.install()
        launches.install()
        if setup.hazard:
            from tritonport.verify.child.hazard import traps

            traps.install()
        if setup.out is not None and (Path(setup.out) / "activate.py").is_file():
            import activate  # type: ignore[import-not-found] # noqa: F401 - the output's own module
        self._side = self._make_side()

    def _make_side(self) -> Any:
        watched = tuple(Path(p) for p in self._setup.watched)
        if self._setup.hazard:
            return self._make_hazard_side(watched)
        if self._setup.out is None:
            from tritonport.verify.child.original import Original

            return Original(watched[0])
        from tritonport.verify.child.migrated import Migrated

        return Migrated((Path(self._setup.out), *watched), self._setup.exact, self._setup.cases.tolerances)

    def _make_hazard_side(self, watched: tuple[Path, ...]) -> Any:
        from tritonport.verify.child.hazard.sides import HazardMigrated, HazardOriginal

        if self._setup.out is None:
            return HazardOriginal(watched)
        roots = (Path(self._setup.out), *watched)
        return HazardMigrated(roots, self._setup.exact, self._setup.cases.tolerances)

    def answer(self, request: dict[str, Any]) -> dict[str, Any]:
        from tritonport.verify.child.units import NotHereError, make_unit

        folder = Path(request["folder"])
        try:
            unit = make_unit(unpack_unit(request["unit"]), self._setup.cases, self._setup.version)
            if self._setup.out is None:
                return self._side.run(unit, folder)
            return self._side.run(unit, folder, request["original"], request["cores"])
        except NotHereError as reason:
            return {"skipped": str(reason)}


def _one_line(error: BaseException) -> str:
    text = str(error).strip().splitlines()
    return f"{type(error).__name__}: {text[-1] if text else ''}"[:400]


def _requests() -> Iterator[str]:
    """Lines of standard input, read beside the work: the system closes the pipe of a parent that was killed, and
    nothing else would end a worker whose request takes long or hangs."""
    lines: queue.SimpleQueue[str] = queue.SimpleQueue()

    def read() -> None:
        for line in sys.stdin:
            lines.put(line)
        os._exit(1)

    threading.Thread(target=read, daemon=True).start()
    while True:
        yield lines.get()


def main() -> None:
    answers = os.fdopen(os.dup(1), "w", encoding="utf-8")
    os.dup2(2, 1)
    worker: Worker | None = None
    for line in _requests():
        request = json.loads(line)
        try:
            if worker is None:
                worker = Worker(unpack_setup(request))
                answer: dict[str, Any] = {"ready": True}
            else:
                answer = worker.answer(request)
        except Exception as error:
            traceback.print_exc()
            answer = {"error": _one_line(error)}
        answers.write(json.dumps(answer) + "\n")
        answers.flush()


if __name__ == "__main__":
    main()
