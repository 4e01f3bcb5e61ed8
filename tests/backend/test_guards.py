"""Checks of migrated host functions, read back as questions over their parameters."""

from __future__ import annotations

import textwrap

import pytest

from tritonport.emit.guards import checks

HEAD = "from lib.tritonport_runtime import check_assumption as check\n"


def guards(body: str, parameters: str = "q, v, size=None") -> list[str | None]:
    text = f"{HEAD}\ndef run({parameters}):\n{textwrap.indent(textwrap.dedent(body), '    ')}"
    return [item.guard for item in checks(text, "run")]


@pytest.mark.parametrize(
    ("body", "guard"),
    [
        ("check(size % 64 == 0, 'T')", "size % 64 == 0"),
        ("B, T, H = q.shape\ncheck(T % 64 == 0, 'T')", "q.shape[1] % 64 == 0"),
        ("B, T, V = *q.shape, v.shape[-1]\ncheck(T * V < 9, 'T')", "q.shape[1] * v.shape[-1] < 9"),
        ("V, B, T = v.shape[-1], *q.shape\ncheck(T == V, 'T')", "q.shape[1] == v.shape[-1]"),
        ("T = q.shape[1]\nN = T + 1\nif N:\n    check(N % 2 == 0, 'T')", "(q.shape[1] + 1) % 2 == 0"),
        ("a = q\nB, T = a.shape\ncheck(T > 1, 'T')", "q.shape[1] > 1"),
    ],
)
def test_what_can_be_said_over_parameters(body: str, guard: str) -> None:
    assert guards(body) == [guard]


@pytest.mark.parametrize(
    "body",
    [
        "T = 1\nif v:\n    T = 2\ncheck(T % 2 == 0, 'T')",
        "size = size + 1\ncheck(size % 2 == 0, 'T')",
        "for T in v:\n    check(T % 2 == 0, 'T')",
        "check(LIMIT % 2 == 0, 'T')",
        "(a, b), T = q\ncheck(a % 2 == 0, 'T')",
    ],
)
def test_what_cannot_is_left_to_the_function(body: str) -> None:
    assert guards(body) == [None]


def test_functions_without_checks_have_none() -> None:
    assert guards("return size") == []
    assert checks("def check(x): ...\ndef run(a):\n    check(a)\n", "run") == ()
