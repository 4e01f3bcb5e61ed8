"""Finds an Ascend compiler: the one that `toolchain install` made, or one that the user names.

Beside `triton` it cannot live (triton-ascend installs a package of the same name), so it is an environment
of its own in the user's cache.
"""

from __future__ import annotations

import json
import os
import platform
import re
import shutil
import subprocess
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any

from tritonport.npu.pins import pins
from tritonport.sources.wheel import cache_folder

STAMP = "tritonport-toolchain.json"
"""Written into an environment when, and only when, its installation is complete."""

_PROBE = """
import importlib.util, importlib.metadata, json, os, sys
def version(name):
    try: return importlib.metadata.version(name)
    except importlib.metadata.PackageNotFoundError: return None
def folder(name):
    spec = importlib.util.find_spec(name)
    return os.path.dirname(spec.origin) if spec and spec.origin else None
print(json.dumps({"triton_ascend": version("triton-ascend"), "ascendnpu_ir": version("ascendnpu-ir"),
    "torch": version("torch"), "python": ".".join(map(str, sys.version_info[:3])),
    "triton_folder": folder("triton"), "ir_folder": folder("ascendnpuir")}))
"""


@dataclass(frozen=True, slots=True)
class Toolchain:
    """A compiler that can be used. identity: changes whenever a part of it does; caches are keyed by it.

    notes: what it was not checked with, for the report.
    """

    home: Path
    python: Path
    bishengir: Path
    adapter: Path
    triton_folder: Path
    triton_ascend: str | None
    ascendnpu_ir: str | None
    torch: str | None
    identity: str
    notes: tuple[str, ...] = ()

    def facts(self, arch: str) -> dict[str, str | None]:
        """As run.json names a toolchain."""
        return {"triton_ascend": self.triton_ascend, "ascendnpu_ir": self.ascendnpu_ir, "arch": arch}


@dataclass(frozen=True, slots=True)
class Missing:
    """Why there is no compiler; the tier is then "not run" with this reason."""

    why: str


@dataclass(frozen=True, slots=True)
class ToolchainStatus:
    """What `status` and `doctor` print. installed: complete ascendnpu-ir versions; half: begun ones."""

    supported: bool
    why: str | None
    folder: str
    installed: tuple[str, ...]
    half: tuple[str, ...]
    default: str
    megabytes: int

    def to_json(self) -> dict[str, Any]:
        return asdict(self)


def machine_problem() -> str | None:
    """Why this machine cannot run the compiler, or None. It is distributed for x86-64 Linux alone."""
    system, machine = platform.system(), platform.machine()
    if system != "Linux" or machine not in ("x86_64", "AMD64"):
        return f"the Ascend compiler is distributed for x86-64 Linux only; this is {system} {machine}"
    return None


def toolchains_folder() -> Path:
    return cache_folder() / "toolchain"


def toolchain_status() -> ToolchainStatus:
    """Looks at the disk only; runs nothing, needs no network."""
    folder = toolchains_folder()
    made = sorted(path.name for path in folder.iterdir() if path.is_dir()) if folder.is_dir() else []
    complete = tuple(name for name in made if (folder / name / STAMP).is_file())
    sizes = [json.loads((folder / name / STAMP).read_text())["megabytes"] for name in complete]
    return ToolchainStatus(
        supported=machine_problem() is None,
        why=machine_problem(),
        folder=str(folder),
        installed=complete,
        half=tuple(name for name in made if name not in complete),
        default=pins().default,
        megabytes=sum(sizes),
    )


def locate(chosen: Path | None = None, ir: str | None = None) -> Toolchain | Missing:
    """The compiler to use.

    chosen: an environment (a folder with bin/python, or its python), or a CANN installation, which brings
    its own bishengir-compile and takes the front end of the installed environment.
    """
    problem = machine_problem()
    if problem:
        return Missing(problem)
    installed = toolchains_folder() / (ir or pins().default)
    if chosen is None:
        if not (installed / STAMP).is_file():
            state = "is not complete" if installed.is_dir() else "is not installed"
            return Missing(f"the Ascend compiler {state}: run `tritonport toolchain install`")
        return _environment(installed, installed / "bin" / "python", None)
    python = _python_of(chosen)
    if python is not None:
        return _environment(chosen, python, None)
    compiler = _compiler_of(chosen)
    if compiler is None:
        return Missing(f"{chosen} has neither bin/python nor a bishengir-compile")
    if not (installed / STAMP).is_file():
        return Missing(f"{chosen} brings no front end: run `tritonport toolchain install` beside it")
    return _environment(installed, installed / "bin" / "python", compiler)


def _python_of(chosen: Path) -> Path | None:
    if chosen.is_file() and chosen.name.startswith("python"):
        return chosen.absolute()
    inside = chosen / "bin" / "python"
    return inside.absolute() if inside.exists() else None


def _compiler_of(chosen: Path) -> Path | None:
    if chosen.is_file():
        return chosen.absolute() if chosen.name == "bishengir-compile" else None
    places = ("bishengir-compile", "bin/bishengir-compile", "compiler/bishengir/bin/bishengir-compile")
    direct = next((chosen / place for place in places if (chosen / place).is_file()), None)
    found = direct or next(iter(sorted(chosen.glob("*/*/bishengir-compile"))), None)
    return found.absolute() if found else None


def _environment(home: Path, python: Path, compiler: Path | None) -> Toolchain | Missing:
    try:
        done = subprocess.run(
            [str(python), "-c", _PROBE],
            check=True, capture_output=True, text=True, timeout=60, env=clean_environment(),
        )  # fmt: skip
        facts = json.loads(done.stdout)
    except (OSError, subprocess.SubprocessError, ValueError) as error:
        return Missing(f"{python} does not run: {str(error).splitlines()[0]}")
    if not facts["triton_folder"] or facts["triton_ascend"] is None:
        return Missing(f"{python} has no triton-ascend")
    triton = Path(facts["triton_folder"])
    adapter = triton / "backends" / "ascend" / "triton-adapter-opt"
    if compiler is None and facts["ir_folder"]:
        compiler = Path(facts["ir_folder"]) / "bin" / "bishengir-compile"
        version = facts["ascendnpu_ir"]
    else:
        compiler, version = compiler or _on_path(), None
    if compiler is None or not compiler.is_file():
        return Missing(f"there is no bishengir-compile in {home}")
    if not adapter.is_file():
        return Missing(f"there is no triton-adapter-opt in {triton}")
    version = version or _reported_version(compiler)
    return Toolchain(
        home, python, compiler, adapter, triton, facts["triton_ascend"], version, facts["torch"],
        identity=_identity(compiler, adapter, facts), notes=_unchecked(facts["triton_ascend"], version),
    )  # fmt: skip


def _on_path() -> Path | None:
    found = shutil.which("bishengir-compile")
    return Path(found) if found else None


def _reported_version(compiler: Path) -> str | None:
    """The first number that `bishengir-compile --version` prints; None when it prints none."""
    try:
        done = subprocess.run(
            [str(compiler), "--version"], capture_output=True, text=True, timeout=60, check=False
        )
    except (OSError, subprocess.SubprocessError):
        return None
    found = re.search(r"\b\d+\.\d+\.\d+\b", done.stdout)
    return found.group(0) if found else None


def _identity(compiler: Path, adapter: Path, facts: dict[str, Any]) -> str:
    """Versions, sizes and times of the two programs; a digest of 130 MB would cost every run 0.1 s."""
    stats = [(path.stat().st_size, path.stat().st_mtime_ns) for path in (compiler, adapter)]
    return json.dumps([facts["triton_ascend"], facts["ascendnpu_ir"], facts["torch"], facts["python"], stats])


def _unchecked(triton_ascend: str | None, ir: str | None) -> tuple[str, ...]:
    notes: list[str] = []
    if triton_ascend != pins().triton_ascend:
        notes.append(f"not checked with triton-ascend {triton_ascend} (checked: {pins().triton_ascend})")
    if ir not in pins().compilers:
        checked = ", ".join(sorted(pins().compilers))
        notes.append(f"not checked with the compiler of {ir or 'an unknown version'} (checked: {checked})")
    return tuple(notes)


def clean_environment() -> dict[str, str]:
    """The caller's environment without what leads into its own Python or changes the compiler's answer."""
    dropped = ("PYTHONPATH", "PYTHONHOME", "TRITON_INTERPRET", "BISHENG_INSTALL_PATH", "VIRTUAL_ENV")
    kept = {key: value for key, value in os.environ.items() if key not in dropped}
    return {**kept, "OMP_NUM_THREADS": "1", "TRITON_ALL_BLOCKS_PARALLEL": "0"}
