"""Kernel -> Triton IR, each in a child process, so that a crash of the front end is one kernel's result.

Part of the capture worker: runs inside the toolchain's environment, which has no tritonport.
"""

from __future__ import annotations

import gc
import importlib
import json
import os
import sys
import traceback
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any

from npu_launch import Unit, first_line, kernel_name

Roots = Sequence[tuple[str, str]]
"""Folders and what stands for them in the IR, so that it does not depend on where sources lie."""


def portable(path: str, roots: Roots) -> str:
    for folder, name in roots:
        if path.startswith(folder):
            return name + path[len(folder) :]
    return path


def lower(unit: Unit, folder: Path, roots: Roots) -> dict[str, Any]:
    """What happened to one unit. `ttir` names the file with the IR; else `error` says why there is none."""
    place = {"file": portable(inspect_file(unit), roots), "line": first_line(unit.jit)}
    facts = {
        "kernel": kernel_name(unit.jit),
        **place,
        "signature": unit.signature,
        "constants": {key: _plain(value) for key, value in unit.constants.items()},
        "options": {key: _plain(value) for key, value in unit.options.items()},
        "unknown_options": {key: _plain(value) for key, value in unit.unknown_options.items()},
    }
    return {**facts, **_in_child(unit, folder / unit.key, roots)}


def inspect_file(unit: Unit) -> str:
    return str(Path(unit.jit.fn.__code__.co_filename).resolve())


def _plain(value: Any) -> Any:
    return value if isinstance(value, (int, float, bool, str, type(None))) else str(value)


def _in_child(unit: Unit, stem: Path, roots: Roots) -> dict[str, Any]:
    log, answer = stem.with_suffix(".stderr"), stem.with_suffix(".json")
    sys.stdout.flush()
    sys.stderr.flush()
    child = os.fork()
    if child == 0:
        _child(unit, stem, roots, log, answer)
    _, status = os.waitpid(child, 0)
    stderr = log.read_text(errors="replace") if log.exists() else ""
    for folder, name in roots:
        stderr = stderr.replace(folder, name)
    if not answer.exists():
        return {"ttir": None, "stage": "ttir", "status": os.waitstatus_to_exitcode(status), "stderr": stderr}
    return {**json.loads(answer.read_text()), "stderr": stderr}


def _child(unit: Unit, stem: Path, roots: Roots, log: Path, answer: Path) -> None:
    """Never returns: os._exit keeps the parent's exit handlers out of it."""
    with log.open("w") as handle:
        os.dup2(handle.fileno(), 2)
    try:
        text = _ttir(unit)
        for folder, name in roots:
            text = text.replace(f'loc("{folder}', f'loc("{name}')
        stem.with_suffix(".ttir").write_text(text)
        result: dict[str, Any] = {"ttir": stem.with_suffix(".ttir").name}
    except Exception as error:
        result = {"ttir": None, "stage": "ttir", **_described(error, roots)}
    except BaseException:
        traceback.print_exc()
        os._exit(70)
    answer.write_text(json.dumps(result))
    os._exit(0)


def _ttir(unit: Unit) -> str:
    # by name: the triton that a type checker sees is another version, without this backend
    ascend, compiler, ir, driver = (
        importlib.import_module(name)
        for name in (
            "triton.backends.ascend.compiler",
            "triton.compiler.compiler",
            "triton._C.libtriton.ir",
            "triton.runtime.driver",
        )
    )
    target = driver.driver.active.get_current_target()
    backend = compiler.make_backend(target)
    source = compiler.ASTSource(
        fn=unit.jit, signature=unit.signature, constants=unit.constants, attrs=unit.attrs
    )
    options = backend.parse_options(dict(unit.options))
    context = ir.context()
    ir.load_dialects(context)
    backend.load_dialects(context)
    implementation = backend.get_codegen_implementation()
    module = source.make_ir(options, implementation, backend.get_module_map(), context)
    metadata = {"hash": unit.key, "target": target, **options.__dict__}
    return str(ascend.make_ttir(module, metadata, options))


def _described(error: Exception, roots: Roots) -> dict[str, Any]:
    """The innermost message of a chain of compilation errors, and the source line that it names."""
    chain: list[Any] = list(_chain(error))
    placed = [
        item for item in chain if getattr(item, "src", None) and getattr(item, "node", None) is not None
    ]
    inner = chain[-1]
    message = getattr(inner, "error_message", None) or str(inner) or type(inner).__name__
    if not placed:
        return {"error": f"{type(inner).__name__}: {message}"}
    where: dict[str, Any] = {"error": f"{type(inner).__name__}: {message}"}
    jit = _owner(placed[-1].src)
    if jit is not None:
        where["error_file"] = portable(str(Path(jit.fn.__code__.co_filename).resolve()), roots)
        where["error_line"] = first_line(jit) + placed[-1].node.lineno - 1
    return where


def _chain(error: BaseException | None) -> Iterator[BaseException]:
    while error is not None:
        yield error
        error = error.__cause__


def _owner(source: str) -> Any:
    """The jitted function with this source: an error inside a helper names the helper's text only."""
    from triton.runtime.jit import JITFunction

    return next((obj for obj in gc.get_objects() if isinstance(obj, JITFunction) and obj.src == source), None)
