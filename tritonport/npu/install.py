"""Makes the compiler's environment: every step is looked at again, so a half-made one is finished."""

from __future__ import annotations

import json
import os
import shutil
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable, Sequence
from pathlib import Path

from tritonport.errors import UserError
from tritonport.npu.pins import pins
from tritonport.npu.toolchain import (
    STAMP,
    Missing,
    Toolchain,
    clean_environment,
    locate,
    machine_problem,
    toolchains_folder,
)

Progress = Callable[[str, int, int], None]
"""Called with the step that begins, how many are done, and how many there are."""

_CHECK = "import sys, venv, ensurepip; print('%d.%d' % sys.version_info[:2], sys.implementation.name)"


def install(ir: str | None, progress: Progress, *, python: Path | None = None) -> Toolchain:
    """Installs (or finishes) the environment of one ascendnpu-ir version and returns it.

    Raises UserError: wrong machine, no fitting CPython, no network, an unknown version, a wheel with other
    bytes.
    """
    version = ir or pins().default
    _refuse(version)
    home = toolchains_folder() / version
    if not (home / STAMP).is_file() or _missing_programs(home):
        _make(home, version, python, progress)
    found = locate(ir=version)
    if isinstance(found, Missing):
        (home / STAMP).unlink(missing_ok=True)
        raise UserError(found.why, hint="run `tritonport toolchain install` again")
    return found


def _refuse(version: str) -> None:
    problem = machine_problem()
    if problem:
        raise UserError(problem, hint="the npu-compile tier is not run on this machine")
    if version not in pins().compilers:
        raise UserError(
            f"no pinned ascendnpu-ir {version}", f"there are: {', '.join(sorted(pins().compilers))}"
        )


def _make(home: Path, version: str, python: Path | None, progress: Progress) -> None:
    started = time.monotonic()
    own = home / "bin" / "python"
    steps: tuple[tuple[str, Callable[[], None]], ...] = (
        ("environment", lambda: _environment(home, own, python)),
        ("compiler wheels", lambda: _compiler(own, version, again=bool(_missing_programs(home)))),
        ("torch and what host code imports", lambda: _capture(own)),
        ("parts that are not needed", lambda: _drop_unused(home)),
        ("trial", lambda: _trial(home, own)),
    )
    for done, (name, step) in enumerate(steps):
        progress(name, done, len(steps))
        step()
    size = sum(path.stat().st_size for path in home.rglob("*") if path.is_file() and not path.is_symlink())
    facts = {
        "ascendnpu_ir": version,
        "megabytes": size // 1_000_000,
        "seconds": round(time.monotonic() - started),
    }
    temporary = home / (STAMP + ".new")
    temporary.write_text(json.dumps(facts))
    temporary.replace(home / STAMP)
    progress("done", len(steps), len(steps))


def _environment(home: Path, own: Path, python: Path | None) -> None:
    if own.exists() and _version_of(str(own)) in pins().pythons:
        return
    base = find_python(python)
    shutil.rmtree(home, ignore_errors=True)
    home.parent.mkdir(parents=True, exist_ok=True)
    done = subprocess.run([base, "-m", "venv", str(home)], capture_output=True, text=True, check=False)
    if done.returncode != 0:
        shutil.rmtree(home, ignore_errors=True)
        raise UserError(f"{base} cannot make an environment: {_last_line(done.stdout + done.stderr)}")


def find_python(chosen: Path | None = None) -> str:
    """A CPython that the compiler's wheels exist for, with venv. UserError without one."""
    wanted = pins().pythons
    if chosen is not None:
        if _version_of(str(chosen)) not in wanted:
            raise UserError(f"{chosen} is not a CPython {' or '.join(wanted)} with venv and ensurepip")
        return str(chosen)
    folders = _path_folders()
    named = [shutil.which(f"python{version}", path=folder) for version in wanted for folder in folders]
    for candidate in (*(name for name in named if name), sys.executable):
        if _version_of(candidate) in wanted:
            return candidate
    raise UserError(
        f"no CPython {' or '.join(wanted)} with venv on this machine",
        hint=f"triton-ascend {pins().triton_ascend} has wheels for no other; install one or give --python",
    )


def _path_folders() -> tuple[str, ...]:
    """Each folder by itself: the first hit on PATH may be a shim that does not run."""
    return tuple(folder for folder in os.environ.get("PATH", "").split(os.pathsep) if folder)


def _version_of(python: str) -> str | None:
    try:
        done = subprocess.run([python, "-c", _CHECK], capture_output=True, text=True, timeout=60, check=False)
    except (OSError, subprocess.SubprocessError):
        return None
    words = done.stdout.split()
    return words[0] if done.returncode == 0 and words[1:] == ["cpython"] else None


def _missing_programs(home: Path) -> list[str]:
    """Programs of an installed compiler that were deleted once, and are needed now."""
    kept: list[str] = []
    for record in home.glob("lib/python3*/site-packages/ascendnpu_ir-*.dist-info/RECORD"):
        files = [Path(line.partition(",")[0]) for line in record.read_text().splitlines()]
        folder = record.parent.parent
        programs = [file for file in files if file.parts[:2] == ("ascendnpuir", "bin")]
        kept += [
            file.name for file in programs if file.name not in pins().unused and not (folder / file).is_file()
        ]
    return kept


def _compiler(own: Path, version: str, *, again: bool) -> None:
    """The pinned wheels, each by its digest, and nothing that they might ask for. again: also where pip sees them."""
    with tempfile.NamedTemporaryFile("w", suffix=".txt", delete=False) as handle:
        handle.write("\n".join(pinned.requirement() for pinned in pins().compilers[version]) + "\n")
    try:
        forced = ["--force-reinstall"] if again else []
        _pip(own, [*forced, "--require-hashes", "--no-deps", "--only-binary", ":all:", "-r", handle.name])
    finally:
        Path(handle.name).unlink()


def _capture(own: Path) -> None:
    """The local version `+cpu` keeps pip from ever taking a CUDA build."""
    try:
        _pip(own, ["--only-binary", ":all:", *pins().capture])
    except UserError as error:
        if not error.message.startswith("pip: ") or "torch" not in error.message:
            raise
        raise UserError(
            "pip finds no CPU build of torch",
            hint="give pip an index that has PyTorch's CPU builds (PIP_EXTRA_INDEX_URL or PIP_FIND_LINKS)",
        ) from error


def _pip(own: Path, arguments: Sequence[str]) -> None:
    # -s: a package in the user's site folder would pass for installed
    command = [
        str(own),
        "-s",
        "-m",
        "pip",
        "install",
        "--no-input",
        "--disable-pip-version-check",
        "--retries",
        "1",
    ]
    done = subprocess.run(
        [*command, "--progress-bar", "off", *arguments],
        capture_output=True, text=True, check=False, env=clean_environment(),
    )  # fmt: skip
    if done.returncode != 0:
        raise _pip_error(done.stdout + done.stderr)


_OFFLINE = (
    "NewConnectionError",
    "Name or service not known",
    "name resolution",
    "Connection refused",
    "timed out",
)


def _pip_error(output: str) -> UserError:
    """pip prints many lines; one of them says it."""
    errors = [line.removeprefix("ERROR: ") for line in output.splitlines() if line.startswith("ERROR: ")]
    message = errors[-1] if errors else _last_line(output)
    mismatch = next((line for line in errors if "DO NOT MATCH THE HASHES" in line), None)
    if mismatch:
        return UserError(
            "a wheel of the compiler does not have the pinned sha256", hint="nothing was installed"
        )
    if any(sign in output for sign in _OFFLINE):
        return UserError(
            f"no package index can be reached ({message})",
            hint="with a network, run `tritonport toolchain install` again; it continues where it stopped",
        )
    return UserError(f"pip: {message}")


def _last_line(text: str) -> str:
    lines = [line for line in text.splitlines() if line.strip()]
    return lines[-1] if lines else "no message"


def _drop_unused(home: Path) -> None:
    for name in pins().unused:
        for path in home.glob(f"lib/python3*/site-packages/ascendnpuir/bin/{name}"):
            path.unlink()


def _trial(home: Path, own: Path) -> None:
    """Imports what the capture imports; a wheel cut short by a full disk shows here."""
    code = "import torch, numpy, einops, triton, triton.backends.ascend.compiler, ascendnpuir"
    done = subprocess.run(
        [str(own), "-c", code], capture_output=True, text=True, check=False, env=clean_environment()
    )
    if done.returncode != 0:
        reason = _last_line(done.stderr)
        raise UserError(f"the environment does not work: {reason}", hint=f"delete {home} and install again")
