"""Triton IR -> linalg (triton-adapter-opt) -> HIVM with planned memory (bishengir-compile), and no further.

The step after that, `hivmc`, is part of CANN and on no package index. A stand-in that does nothing makes
bishengir-compile's exit status say whether its own pipeline, memory planning included, has passed.
"""

from __future__ import annotations

import hashlib
import json
import os
import re
import time
from collections.abc import Mapping
from dataclasses import asdict, dataclass, field, replace
from functools import cache
from pathlib import Path
from typing import Any

from tritonport.npu import ir, memory, process, scratch
from tritonport.npu.measure import Measurement, Message
from tritonport.npu.messages import MEMORIES, crash, ended_by_signal, read_messages, retries
from tritonport.npu.toolchain import Toolchain

_FLAGS: Mapping[str, str] = {
    "multibuffer": "enable-auto-multi-buffer",
    "enable_auto_bind_sub_block": "enable-auto-bind-sub-block",
    "enable_hivm_auto_cv_balance": "enable-hivm-auto-cv-balance",
    "sync_solver": "enable-hivm-graph-sync-solver",
    "unit_flag": "enable-hivm-unit-flag-sync",
    "inject_barrier_all": "enable-hivm-inject-barrier-all-sync",
    "inject_block_all": "enable-hivm-inject-block-all-sync",
    "limit_auto_multi_buffer_only_for_local_buffer": "limit-auto-multi-buffer-only-for-local-buffer",
    "set_workspace_multibuffer": "set-workspace-multibuffer",
    "tile_mix_vector_loop": "tile-mix-vector-loop",
    "tile_mix_cube_loop": "tile-mix-cube-loop",
    "limit_auto_multi_buffer_of_local_buffer": "limit-auto-multi-buffer-of-local-buffer",
    "disable_auto_inject_block_sync": "disable-auto-inject-block-sync",
}
"""Launch options that triton-ascend 3.2.0 hands to bishengir-compile for A2 and A3, in its order."""

_ALWAYS = (
    "--enable-hfusion-compile=true",
    "--enable-hivm-compile=true",
    "--enable-triton-kernel-compile=true",
)
_REPEATABLE = "--mlir-disable-threading"
"""With threads 1.2.0 loses overflow messages, and with them its own retries, or crashes, at random."""
_WISHED = ("--enable-memory-display", "--save-temps=.")
_FINAL = "module.hivm.opt.mlir"
_HIVMC = f"""#!/bin/sh
[ "$1" = --version ] && {{ echo "hivmc 0.2.0"; exit 0; }}
for a in "$@"; do case "$a" in *.mlir) [ "$a" -ef {_FINAL} ] || cp "$a" {_FINAL};; esac; done
exit 0
"""
"""Versions before 1.2.0 cannot keep the final IR themselves; the stand-in keeps what it is given."""


@dataclass(frozen=True, slots=True)
class Unit:
    """What is compiled: one specialisation. ttir: its Triton IR, with source paths relative to the root.

    signature: the type of each run-time parameter (`*bf16`, `i32`). constants: what the kernel was specialised for.
    """

    kernel: str
    file: str
    line: int
    ttir: str
    options: Mapping[str, Any] = field(default_factory=dict[str, Any])
    signature: Mapping[str, str] = field(default_factory=dict[str, str])
    constants: Mapping[str, Any] = field(default_factory=dict[str, Any])


@dataclass(frozen=True, slots=True)
class Setting:
    """How units are compiled. limits: bits of UB, L1 and L0C. seconds: time limit of each program.

    program: the compiler's name in its folder. next: the program of CANN that it calls last. options: what the target
    sets, whatever a launch says. counts: whether its IR is one whose loops and transfers can be counted.
    """

    arch: str
    limits: Mapping[str, int]
    seconds: float = 300.0
    program: str = "bishengir-compile"
    next: str = "hivmc"
    options: Mapping[str, Any] = field(default_factory=dict[str, Any])
    counts: bool = True

    def compiler(self, toolchain: Toolchain) -> Path:
        """The program itself; one that the user named stays where it is."""
        named = toolchain.bishengir
        return named if self.program == Setting.program else named.with_name(self.program)


def limits_of(ub: int, l1: int, l0c: int) -> dict[str, int]:
    return dict(zip(MEMORIES.values(), (ub, l1, l0c), strict=True))


def compile_unit(toolchain: Toolchain, setting: Setting, unit: Unit) -> Measurement:
    """Compiles one unit. Never raises for what the compiler does: a crash, a hang and silence are results."""
    started = time.monotonic()
    unit = replace(unit, options={**unit.options, **setting.options})
    with scratch.folder_for(_content(setting, unit)) as folder:
        adapted = _adapt(toolchain, setting, unit, folder)
        if isinstance(adapted, Message):
            result = Measurement(None, 0.0, messages=(_at_home(adapted, unit),))
        else:
            result = _plan(toolchain, setting, unit, adapted, folder)
    return replace(result, seconds=round(time.monotonic() - started, 3))


def _content(setting: Setting, unit: Unit) -> str:
    text = json.dumps([setting.arch, unit.ttir, dict(unit.options)], sort_keys=True, default=str)
    return hashlib.sha256(text.encode()).hexdigest()[:16]


def _environment() -> dict[str, str]:
    """The same on every machine: what it holds would move the compiler's pointers. A CANN build may need
    its library path."""
    kept = {name: os.environ[name] for name in ("LD_LIBRARY_PATH",) if name in os.environ}
    return {"PATH": "bin:/usr/bin:/bin", "TMPDIR": ".", "LC_ALL": "C", **kept}


def _at_home(message: Message, unit: Unit) -> Message:
    """A message without a place belongs to the kernel."""
    return message if message.file else replace(message, file=unit.file, line=unit.line)


def _adapter_arguments(options: Mapping[str, Any]) -> list[str]:
    """As triton-ascend 3.2.0 calls it, with the locations kept."""
    target = (
        f"compile-on-910-95={options.get('compile_on_910_95', False)} "
        f"force-simt-template={options.get('force_simt_template', False)}"
    )
    linalg = (
        "global-kernel=false named-ops=True "
        f"enable-nd2nz-on-vector={options.get('enable_nd2nz_on_vector', False)} "
        f"enable-select-analysis={options.get('enable_select_analysis', False)} "
        f"compile-on-910-95={options.get('compile_on_910_95', False)}"
    )
    return [
        *(["--triton-linearize"] if options.get("enable_linearize") else []),
        f"--discrete-mask-access-conversion={target}",
        "--triton-to-annotation",
        f"--triton-to-unstructure={target}",
        "--triton-to-hivm",
        "--triton-to-hfusion",
        "--triton-to-llvm",
        "--bubble-up-operation",
        f"--triton-to-linalg={linalg}",
        "--mlir-print-debuginfo",
    ]


def _adapt(toolchain: Toolchain, setting: Setting, unit: Unit, folder: Path) -> str | Message:
    (folder / "kernel.ttir.mlir").write_text(unit.ttir)
    command = [
        str(toolchain.adapter),
        "kernel.ttir.mlir",
        *_adapter_arguments(unit.options),
        "-o",
        "linalg.mlir",
    ]
    ended = process.run(command, folder, _environment(), setting.seconds)
    failure = _failure("triton-adapter-opt", ended, setting.seconds)
    if failure:
        return failure
    output = folder / "linalg.mlir"
    text = output.read_text() if output.is_file() else ""
    return text or Message("silent", "triton-adapter-opt reported success and wrote nothing")


def _failure(program: str, ended: process.Ended, limit: float) -> Message | None:
    """What went wrong with one program, its own message first; None after success."""
    if ended.status is None:
        return Message("time-out", f"{program} was ended after {limit:g} s")
    if ended.status == 127:
        return Message("missing", ended.output or f"{program} is missing")
    if ended.status == 0:
        return None
    number = ended_by_signal(ended.status)
    if number is not None:
        return crash(program, number, ended.output)
    found = read_messages(ended.output)
    if found:
        return found[0]
    last = next((line for line in reversed(ended.output.splitlines()) if line.strip()), "")
    return Message(
        "silent",
        f"{program} failed with status {ended.status}" + (f": {last}" if last else " and said nothing"),
    )


def compiler_arguments(compiler: Path, setting: Setting, options: Mapping[str, Any]) -> list[str]:
    given = [f"--{flag}={options[name]}" for name, flag in _FLAGS.items() if options.get(name) is not None]
    known = supported_flags(compiler, setting.seconds)
    wished = [flag for flag in _WISHED if flag[2:].partition("=")[0] in known]
    passed_on = [
        f"--{_newer(name)}={value}"
        for name, value in options.items()
        if name not in _FLAGS and _newer(name) in known
    ]
    return [f"--target={setting.arch}", *given, *_ALWAYS, *passed_on, *wished, _REPEATABLE]


NEWER_OPTIONS = ("enable_ubuf_saving", "disable_size_align_for_cast")
"""Options of later triton-ascend versions that bishengir-compile 1.2.0 already takes."""


def _newer(name: str) -> str:
    return name.replace("_", "-") if name in NEWER_OPTIONS else ""


@cache
def supported_flags(compiler: Path, seconds: float) -> frozenset[str]:
    """Names of the flags that this compiler lists; versions differ. Empty when it does not even do that."""
    ended = process.run([str(compiler), "--help"], Path("/"), _environment(), seconds)
    return frozenset(re.findall(r"--([a-z][\w-]*)", ended.output)) if ended.status == 0 else frozenset()


def _plan(toolchain: Toolchain, setting: Setting, unit: Unit, linalg: str, folder: Path) -> Measurement:
    # triton-ascend takes the mode out too: bishengir-compile finds it by itself
    (folder / "kernel.mlir").write_text(re.sub(r', mix_mode\s*=\s*"[^"]*"', "", linalg))
    stand_in, compiler = folder / "bin" / setting.next, setting.compiler(toolchain)
    stand_in.parent.mkdir()
    stand_in.write_text(_HIVMC)
    stand_in.chmod(0o755)
    arguments = compiler_arguments(compiler, setting, unit.options)
    command = [
        *process.without_randomisation(),
        str(compiler),
        "kernel.mlir",
        *arguments,
        "-o",
        "kernel",
    ]
    if not compiler.is_file():
        ended = process.Ended(127, f"cannot start {compiler}: it is missing")
    else:
        ended = process.run(command, folder, _environment(), setting.seconds)
    return _read(setting, unit, ended, folder)


def _read(setting: Setting, unit: Unit, ended: process.Ended, folder: Path) -> Measurement:
    final = folder / _FINAL
    text = final.read_text() if ended.status == 0 and final.is_file() else None
    failure = _failure("bishengir-compile", ended, setting.seconds)
    if failure is None and not text:
        failure = Message("silent", "bishengir-compile reported success and left no result")
    said = read_messages(ended.output) if ended.status not in (0, None) else ()
    overflows = [message for message in said if message.kind == "overflow"] if failure else []
    plan = memory.read_plan(folder, text, setting.limits, overflows)
    switched = retries(ended.output)
    if failure is not None:
        messages = [failure, *(m for m in said if m.text not in failure.text)]
        placed = tuple(_at_buffer(message, plan, unit) for message in messages)
        fits = False if overflows else None
        buffers = plan.largest if overflows else ()
        return Measurement(fits, 0.0, plan.uses, retries=switched, messages=placed, largest_buffers=buffers)
    assert text is not None
    counts = asdict(ir.count(text)) if setting.counts else {}
    digest = hashlib.sha256(text.encode()).hexdigest()
    return Measurement(True, 0.0, plan.uses, plan.whole, switched, ir_digest=digest, **counts)


def _at_buffer(message: Message, plan: memory.Plan, unit: Unit) -> Message:
    """The compiler names the whole kernel for an overflow; the largest buffer's line says more."""
    biggest = next((b for b in plan.largest if b.file), None)
    if message.kind == "overflow" and biggest is not None:
        return replace(message, file=biggest.file, line=biggest.line)
    return _at_home(message, unit)
