"""The true compiler where `tritonport toolchain install` has put it, and seeded fake ones."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from pathlib import Path, PurePosixPath

import pytest

from tritonport.npu.toolchain import Missing, Toolchain, locate
from tritonport.sources.tree import SourceTree

KERNELS = Path(__file__).parent / "kernels"


@pytest.fixture(autouse=True)
def own_results(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """No test finds a result that an earlier run has left; the installed toolchain stays in its place."""
    place = tmp_path / "cache"
    monkeypatch.setattr("tritonport.npu.cache.cache_folder", lambda: place)


@pytest.fixture(scope="session")
def toolchain() -> Toolchain:
    found = locate()
    if isinstance(found, Missing):
        pytest.skip(found.why)
    return found


@pytest.fixture
def lone_kernel() -> Callable[[str], SourceTree]:
    return lambda name: SourceTree(KERNELS, None, PurePosixPath(f"{name}.py"))


@pytest.fixture
def fake(tmp_path: Path) -> Callable[[str, str], Toolchain]:
    """A toolchain whose two programs are shell scripts: (adapter's body, compiler's body)."""

    def make(adapter: str, compiler: str) -> Toolchain:
        programs: list[Path] = []
        for name, body in (("triton-adapter-opt", adapter), ("bishengir-compile", compiler)):
            path = tmp_path / name
            path.write_text(f"#!/bin/sh\n{body}\n")
            path.chmod(0o755)
            programs.append(path)
        blank = Toolchain(tmp_path, tmp_path, tmp_path, tmp_path, tmp_path, "3.2.0", "1.2.0", None, "fake")
        return replace(blank, adapter=programs[0], bishengir=programs[1])

    return make
