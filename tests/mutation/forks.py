"""The zygote from the outside: a worker of the product whose every unit runs in a fork of its own."""

from __future__ import annotations

import json
import os
import subprocess
import sys
import threading
import time
from pathlib import Path
from typing import IO, Any, cast

from tests.support import cases
from tritonport.verify.messages import Setup, pack_setup
from tritonport.verify.pool import WorkerError

CORES = len(os.sched_getaffinity(0))
_RUNNING = threading.BoundedSemaphore(CORES)
"""Forks that compute at one time, of all zygotes together."""


class Zygote:
    """Context manager; threads may ask at the same time."""

    def __init__(self, folder: Path, package: str) -> None:
        self._folder, self._package = folder, package
        self._lock = threading.Lock()
        self._number = 0

    def __enter__(self) -> Zygote:
        threads = dict.fromkeys(("OMP_NUM_THREADS", "OPENBLAS_NUM_THREADS", "MKL_NUM_THREADS"), "1")
        fixed = {"TRITON_INTERPRET": "1", "PYTHONHASHSEED": "0", "PYTHONWARNINGS": "ignore"}
        self._process = subprocess.Popen(
            [sys.executable, "-m", "tests.mutation.zygote"],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=subprocess.DEVNULL,
            text=True,
            env=cases.environment(**threads, **fixed, TORCHINDUCTOR_COMPILE_THREADS="1"),
            cwd=cases.REPOSITORY,
        )
        return self

    def __exit__(self, *_exc: object) -> None:
        self._process.kill()
        self._process.wait()

    def warm(self, modules: list[str]) -> None:
        self._tell({"warm": modules, "package": self._package})

    def ask(self, setup: Setup, request: dict[str, Any]) -> dict[str, Any]:
        with self._lock:
            self._number += 1
            answer = self._folder / f"answer-{self._number}.json"
        log = answer.with_suffix(".log")
        told = {**request, "setup": pack_setup(setup), "answer": str(answer), "log": str(log)}
        with _RUNNING:
            process = self._tell(told)["pid"]
            while not answer.exists() and _alive(process):
                time.sleep(0.02)
        if not answer.exists():
            raise WorkerError("the process running it died")
        return json.loads(answer.read_text(encoding="utf-8"))

    def _tell(self, request: dict[str, Any]) -> dict[str, Any]:
        with self._lock:
            stdin, stdout = cast("IO[str]", self._process.stdin), cast("IO[str]", self._process.stdout)
            stdin.write(json.dumps(request) + "\n")
            stdin.flush()
            return json.loads(stdout.readline())


def _alive(process: int) -> bool:
    try:
        os.kill(process, 0)
    except ProcessLookupError:
        return False
    return True


class Forked:
    """Stands for a product worker: the same questions, every one answered by a new fork."""

    def __init__(self, zygote: Zygote, setup: Setup) -> None:
        self.zygote, self.setup = zygote, setup

    def ask(self, request: dict[str, Any]) -> dict[str, Any]:
        return self.zygote.ask(self.setup, request)

    def close(self) -> None:
        pass
