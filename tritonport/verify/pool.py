"""Worker processes: started once, fed many units, replaced when they die."""

from __future__ import annotations

import json
import os
import subprocess
import sys
import threading
from collections.abc import Mapping
from pathlib import Path
from typing import IO, Any, cast

from tritonport.verify.device.settings import DeviceSetup
from tritonport.verify.messages import Setup, pack_setup

UNIT_SECONDS = 1800.0
"""A unit that takes longer than this hangs: the slowest of the corpus, a layer's training step, takes about a minute,
and ten times that on a machine that others keep busy."""


class WorkerError(Exception):
    """The worker died, hung or could not be set up; the message is one line."""


class Worker:
    """One process. log collects what the code under test printed."""

    def __init__(self, setup: Setup, log: Path) -> None:
        self._setup, self._log = setup, log
        self._process: subprocess.Popen[str] | None = None

    def ask(self, request: dict[str, Any]) -> dict[str, Any]:
        """One answer. A dead worker is replaced by the next call."""
        process = self._process or self._start()
        return self._exchange(process, request)

    def close(self) -> None:
        process, self._process = self._process, None
        if process is not None:
            process.kill()
            process.wait()
            for pipe in (process.stdin, process.stdout):
                if pipe is not None:
                    pipe.close()

    def _start(self) -> subprocess.Popen[str]:
        with self._log.open("ab") as log:
            process = subprocess.Popen(
                [sys.executable, "-m", "tritonport.verify.child.main"],
                stdin=subprocess.PIPE,
                stdout=subprocess.PIPE,
                stderr=log,
                text=True,
                encoding="utf-8",
                env=_environment(os.environ, self._setup.device),
                cwd=self._log.parent,
            )
        self._process = process
        answer = self._exchange(process, pack_setup(self._setup))
        if "error" in answer:
            self.close()
            raise WorkerError(answer["error"])
        return process

    def _exchange(self, process: subprocess.Popen[str], request: dict[str, Any]) -> dict[str, Any]:
        timer = threading.Timer(UNIT_SECONDS, process.kill)
        timer.start()
        try:
            stdin, stdout = cast("IO[str]", process.stdin), cast("IO[str]", process.stdout)
            stdin.write(json.dumps(request) + "\n")
            stdin.flush()
            line = stdout.readline()
        except BrokenPipeError:
            line = ""
        finally:
            timer.cancel()
        if line:
            return json.loads(line)
        status = process.wait()
        self.close()
        raise WorkerError(f"the process running it ended with status {status}{self._last_words()}")

    def _last_words(self) -> str:
        lines = self._log.read_text(encoding="utf-8", errors="replace").strip().splitlines()
        return f": {lines[-1][:200]}" if lines else ""


def _environment(base: Mapping[str, str], device: DeviceSetup | None) -> dict[str, str]:
    """In the interpreter one thread per process: two BLAS threads give no speed and change last bits."""
    package = Path(__file__).resolve().parents[2]
    path = os.pathsep.join(p for p in (str(package), base.get("PYTHONPATH", "")) if p)
    fixed = {"PYTHONHASHSEED": "0", "PYTHONPATH": path, "PYTHONWARNINGS": "ignore"}
    if device is not None and device.kind != "interpreter":
        plain = {name: value for name, value in base.items() if name != "TRITON_INTERPRET"}
        return {**plain, **fixed, **device.environment}
    threads = dict.fromkeys(("OMP_NUM_THREADS", "OPENBLAS_NUM_THREADS", "MKL_NUM_THREADS"), "1")
    return {**base, **threads, **fixed, "TRITON_INTERPRET": "1"}
