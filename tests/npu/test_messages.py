"""What the compiler prints -> located messages."""

from __future__ import annotations

import pytest

from tritonport.npu.messages import crash, ended_by_signal, place_of, read_messages, retries

OVERFLOW = """\
[NOTE] Ub overflow detected; automatically set enable-code-motion to false and retrying compilation.
[NOTE] Ub overflow detected; automatically set enable-auto-multi-buffer to false and retrying compilation.
loc("pkg/a.py":58:0): error: Failed to run BiShengHIR pipeline

loc("pkg/a.py":58:0): error: ub overflow, requires 2233344 bits while 1572864 bits available! (why)
loc("pkg/a.py":58:0): error: cc overflow, requires 2097152 bits while 1048576 bits available! (why)
[ERROR] Failed to run BiShengIR pipeline
"""


def test_overflows_with_memory_bits_and_limit():
    found = read_messages(OVERFLOW)
    assert [(m.buffer, m.requires_bits, m.limit_bits) for m in found] == [
        ("UB", 2233344, 1572864),
        ("L0C", 2097152, 1048576),
    ]
    assert {(m.file, m.line) for m in found} == {("pkg/a.py", 58)}
    assert retries(OVERFLOW) == ("enable-code-motion to false", "enable-auto-multi-buffer to false")


def test_an_overflow_comes_before_what_was_printed_earlier():
    text = "pkg/a.py:3:4: error: 'x.y' op failed to legalize\n" + OVERFLOW
    assert [m.kind for m in read_messages(text)] == ["overflow", "overflow", "legalisation"]


@pytest.mark.parametrize(
    ("location", "place"),
    [
        ('loc("pkg/a.py":58:4)', ("pkg/a.py", 58)),
        ('loc(callsite("pkg/in.py":9:1 at "pkg/out.py":20:2))', ("pkg/in.py", 9)),
        (
            'loc(callsite("~toolchain/triton/language/standard.py":9:1 at "pkg/out.py":20:2))',
            ("pkg/out.py", 20),
        ),
        ('loc(fused["pkg/a.py":7:1, "pkg/a.py":8:1])', ("pkg/a.py", 7)),
        ("pkg/with space/a.py:5:6", ("pkg/with space/a.py", 5)),
        ('loc("kernel.mlir":3:3)', (None, None)),
        ('loc("pkg/a.py":0:0)', (None, None)),
        ("<unknown>:0", (None, None)),
    ],
)
def test_places(location, place):
    assert place_of(location) == place


def test_an_error_in_a_library_is_placed_at_its_first_caller():
    text = """\
~toolchain/triton/language/standard.py:299:5: error: 'hfusion.cumsum' op operand #0 must be ranked tensor
pkg/a.py:21:20: note: called from
pkg/b.py:30:20: note: called from
"""
    (message,) = read_messages(text)
    assert (message.kind, message.file, message.line) == ("front-end", "pkg/a.py", 21)


def test_a_caller_is_not_taken_from_the_next_error():
    text = "<unknown>:0: error: one\npkg/a.py:4:1: error: two\npkg/b.py:5:1: note: called from\n"
    assert [(m.text, m.file) for m in read_messages(text)] == [("one", None), ("two", "pkg/a.py")]


@pytest.mark.parametrize(
    ("status", "number"), [(-11, 11), (139, 11), (134, 6), (1, None), (0, None), (128, None)]
)
def test_signals(status, number):
    assert ended_by_signal(status) == number


def test_a_crash_names_the_signal_and_the_cause():
    assert crash("x", 6, "LLVM ERROR: unsupported datatype\n").text == (
        "x crashed (SIGABRT): LLVM ERROR: unsupported datatype"
    )
    assert crash("x", 99, "").text == "x crashed (signal 99)"


def test_warnings_and_notes_are_no_errors():
    assert read_messages("a.py:1:1: warning: slow\na.py:1:1: note: error: is not one\n") == ()
