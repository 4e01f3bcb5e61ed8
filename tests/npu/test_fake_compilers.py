"""A compiler that crashes, hangs, says nothing or is missing is a result of its own, never a pass."""

from __future__ import annotations

import time
from dataclasses import replace
from pathlib import Path

import pytest

from tritonport.npu.compile import Setting, Unit, compile_unit

LIMITS = {"UB": 1572864, "L1": 4194304, "L0C": 1048576}
SETTING = Setting("Ascend910B3", LIMITS, seconds=20)
UNIT = Unit("pkg.mod:kernel", "pkg/mod.py", 7, "module {}\n")
ADAPTS = 'while [ $# -gt 1 ]; do [ "$1" = -o ] && echo "module {}" > "$2"; shift; done'
SAVES = "cat > module.hivm.opt.mlir"


def only_message(result):
    assert result.fits is not True
    assert len(result.messages) == 1
    return result.messages[0]


@pytest.mark.parametrize(
    ("body", "signal_name"),
    [("kill -SEGV $$", "SIGSEGV"), ("kill -ABRT $$", "SIGABRT"), ("exit 139", "SIGSEGV")],
)
def test_crash_of_the_compiler(fake, body, signal_name):
    message = only_message(compile_unit(fake(ADAPTS, body), SETTING, UNIT))
    assert message.kind == "crash"
    assert signal_name in message.text
    assert (message.file, message.line) == ("pkg/mod.py", 7)


def test_crash_of_the_compiler_keeps_its_assertion(fake):
    body = 'echo "bishengir: Pass.cpp:5: run: Assertion \\`x > 0\' failed." >&2; kill -ABRT $$'
    message = only_message(compile_unit(fake(ADAPTS, body), SETTING, UNIT))
    assert "Assertion `x > 0' failed" in message.text


def test_crash_of_the_adapter(fake):
    message = only_message(compile_unit(fake("kill -SEGV $$", "exit 0"), SETTING, UNIT))
    assert message.kind == "crash"
    assert message.text.startswith("triton-adapter-opt")


def test_hang_is_ended_with_its_children(fake, tmp_path):
    body = f"sleep 77 & echo $! > {tmp_path}/child; wait"
    started = time.monotonic()
    message = only_message(compile_unit(fake(ADAPTS, body), replace(SETTING, seconds=0.5), UNIT))
    assert message.kind == "time-out"
    assert time.monotonic() - started < 10
    child = Path("/proc") / (tmp_path / "child").read_text().strip() / "stat"
    assert not child.exists() or child.read_text().split()[2] == "Z"


@pytest.mark.parametrize("body", ["exit 0", "exit 1", "exit 3"])
def test_silence_of_the_compiler(fake, body):
    assert only_message(compile_unit(fake(ADAPTS, body), SETTING, UNIT)).kind == "silent"


def test_silence_of_the_adapter(fake):
    assert only_message(compile_unit(fake("exit 0", "exit 0"), SETTING, UNIT)).kind == "silent"


def test_missing_compiler(fake):
    tools = fake(ADAPTS, "exit 0")
    tools.bishengir.unlink()
    assert only_message(compile_unit(tools, SETTING, UNIT)).kind == "missing"


def test_missing_adapter(fake):
    tools = fake(ADAPTS, "exit 0")
    tools.adapter.unlink()
    assert only_message(compile_unit(tools, SETTING, UNIT)).kind == "missing"


def test_a_result_that_is_no_known_ir_is_unknown_and_not_zero(fake):
    result = compile_unit(fake(ADAPTS, f"echo 'module {{}}' | {SAVES}"), SETTING, UNIT)
    assert result.fits is True
    assert result.scalar_iterations is None
    assert result.discrete_elements is None
    assert result.sub_block is None
    assert result.percent("UB") is None
    assert result.percent("L1") is None


def test_a_message_on_success_is_not_an_error(fake):
    body = f"echo 'x.py:3:1: error: recovered' >&2; echo 'module {{}}' | {SAVES}"
    assert compile_unit(fake(ADAPTS, body), SETTING, UNIT).messages == ()


def test_the_stand_in_hivmc_answers_and_keeps_what_older_versions_hand_it(fake):
    asks = "hivmc --version | grep -q 'hivmc 0.2.0'"
    body = f"echo 'module {{}}' > given.mlir; {asks} && hivmc given.mlir -o kernel.o"
    assert compile_unit(fake(ADAPTS, body), SETTING, UNIT).fits is True


def test_arguments_are_single_threaded_and_name_the_chip(fake, tmp_path):
    options = {"multibuffer": True, "unit_flag": None, "num_warps": 4}
    body = f'[ "$1" = --help ] || echo "$@" > {tmp_path}/arguments; exit 1'
    compile_unit(fake(ADAPTS, body), SETTING, replace(UNIT, options=options))
    given = (tmp_path / "arguments").read_text().split()
    assert "--target=Ascend910B3" in given
    assert "--mlir-disable-threading" in given
    assert "--enable-auto-multi-buffer=True" in given
    assert not any("unit-flag" in argument or "warps" in argument for argument in given)


def test_the_mode_attribute_is_taken_out_as_the_run_time_does(fake, tmp_path):
    adapts = ADAPTS.replace('"module {}"', "'attributes {a, mix_mode = \"aiv\", b}'")
    body = f"[ -f kernel.mlir ] && cp kernel.mlir {tmp_path}/seen; exit 1"
    compile_unit(fake(adapts, body), SETTING, UNIT)
    assert (tmp_path / "seen").read_text() == "attributes {a, b}\n"
