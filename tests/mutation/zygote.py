"""A process that has imported what kernels need, and forks one worker of the product for every request.

Importing torch, triton and FLA's dependencies takes seconds; a fork takes none of it. Each fork imports the
package under test afresh, so that no mutant sees another's module. Reads one JSON request a line, answers each
with the process id of the fork; the fork writes its own answer to `request["answer"]`.
"""

from __future__ import annotations

import importlib
import json
import os
import signal
import sys
from pathlib import Path
from typing import Any

UNIT_SECONDS = 600
"""A mutant that runs longer hangs; unmutated units take seconds, a minute on a machine with other work."""


def run(request: dict[str, Any]) -> dict[str, Any]:
    from tritonport.verify.child.main import Worker
    from tritonport.verify.messages import unpack_setup

    setup = unpack_setup(request["setup"])
    worker = Worker(setup)
    if not request.get("watch"):
        return worker.answer(request)
    from tritonport.verify.child import launches

    watch = _Watch(str(setup.out))
    launches.listen(watch)
    sys.settrace(watch.enter)
    answer = worker.answer(request)
    sys.settrace(None)
    lines = {file: sorted(numbers) for file, numbers in watch.lines.items()}
    return {**answer, "constants": watch.constants, "lines": lines}


class _Watch:
    """What a run of the migrated folder used.

    constants: the plain arguments of every launch, constexpr parameters among them, by kernel. lines: the lines of
    host code that ran, by file relative to the folder. Kernels run untraced: they would take minutes.
    """

    def __init__(self, out: str) -> None:
        self._out = out + os.sep
        self.constants: dict[str, list[dict[str, Any]]] = {}
        self.lines: dict[str, set[int]] = {}

    def before(self, launch: Any) -> None:
        sys.settrace(None)
        values = {name: getattr(value, "value", value) for name, value in launch.arguments.items()}
        plain = {n: v for n, v in values.items() if isinstance(v, (bool, int, str, type(None)))}
        seen = self.constants.setdefault(launch.kernel, [])
        if plain not in seen:
            seen.append(plain)

    def after(self, launch: Any) -> None:
        sys.settrace(self.enter)

    def enter(self, frame: Any, _event: str, _arg: Any) -> Any:
        file = frame.f_code.co_filename
        if not file.startswith(self._out):
            return None
        seen = self.lines.setdefault(file.removeprefix(self._out), set())

        def line(inner: Any, event: str, _arg: Any) -> Any:
            if event == "line":
                seen.add(inner.f_lineno)
            return line

        return line


def child(request: dict[str, Any]) -> None:
    """Never returns. What the code under test prints goes to the log."""
    log = os.open(request["log"], os.O_WRONLY | os.O_CREAT | os.O_APPEND)
    os.dup2(log, 1)
    os.dup2(log, 2)
    signal.alarm(UNIT_SECONDS)
    try:
        answer = run(request)
    except BaseException as error:
        lines = str(error).strip().splitlines() or [""]
        answer = {"error": f"{type(error).__name__}: {lines[-1]}"[:400]}
    answer["modules"] = sorted(sys.modules)
    partial = Path(request["answer"] + ".part")
    partial.write_text(json.dumps(answer), encoding="utf-8")
    partial.rename(request["answer"])
    os._exit(0)


def warm(modules: list[str], package: str) -> None:
    """Import what a fork had to import, but for the package under test and the product's run-time parts."""
    for name in modules:
        top = name.partition(".")[0]
        if top in (package, "activate", "tritonport", "__main__") or name in sys.modules:
            continue
        try:
            importlib.import_module(name)
        except Exception:  # a module that only imports in its own context is left to the forks
            continue


def main() -> None:
    signal.signal(signal.SIGCHLD, signal.SIG_IGN)
    for line in sys.stdin:
        request = json.loads(line)
        if "warm" in request:
            warm(request["warm"], request["package"])
            print(json.dumps({"warm": True}), flush=True)
            continue
        process = os.fork()
        if process == 0:
            child(request)
        print(json.dumps({"pid": process}), flush=True)


if __name__ == "__main__":
    main()
