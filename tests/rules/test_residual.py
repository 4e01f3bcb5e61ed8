"""The residual scan sees what a rule forgot, by whatever name a task reaches it."""

from __future__ import annotations

import ast

import pytest

from tritonport.engine.device_code import Files
from tritonport.engine.residual import residues

KERNEL = """
import triton
import triton.language as tl
from triton.language import num_programs as count


@triton.jit
def shifted(value):
    return value + tl.program_id(0)


def is_fast():
    if triton is None:
        return
    return tl.program_id


LIMIT = is_fast()


class Tools:
    at = shifted


FAST = True
ask = tl.program_id
pick = shifted if FAST else None
again = pick


@triton.jit
def work(dst, grid_0):
    for task in range(tl.program_id(0), grid_0, tl.num_programs(0)):
        work_task(task, dst)


@triton.jit
def work_task(pid_0, dst):
    tl.store(dst + pid_0, BODY)
"""


@pytest.mark.parametrize(
    ("body", "left"),
    [
        ("shifted(1.0)", "tl.program_id(0)"),
        ("pick(1.0)", "tl.program_id(0)"),
        ("again(1.0)", "tl.program_id(0)"),
        ("Tools.at(1.0)", "tl.program_id(0)"),
        ("tl.reduce(pid_0, 0, shifted)", "tl.program_id(0)"),
        ("ask(0)", "ask(0)"),
        ("count(0)", "count(0)"),
        ("map(tl.program_id)", "tl.program_id"),
    ],
)
def test_a_program_id_that_a_task_reaches_is_left_over(body: str, left: str) -> None:
    found = list(residues(KERNEL.replace("BODY", body), frozenset({"work"}), frozenset({"grid-collapse"})))
    assert [(r.function, r.why) for r in found] == [("work", f"`{left}` in the body of a task")]


@pytest.mark.parametrize("body", ["pid_0", "dst.shifted", "tl.sum(pid_0)", "tl.shifted(pid_0)", "LIMIT"])
def test_a_task_that_reaches_none_leaves_nothing(body: str) -> None:
    text = KERNEL.replace("BODY", body)
    assert list(residues(text, frozenset({"work"}), frozenset({"grid-collapse"}))) == []


RETURNS = """
import triton
import triton.language as tl


@triton.jit
def put(dst, pid_0):
    BODY


@triton.jit
def work(dst, grid_0):
    for task in range(tl.program_id(0), grid_0, tl.num_programs(0)):
        put(dst, task)
"""


@pytest.mark.parametrize(
    ("body", "left"),
    [
        ("tl.store(dst + pid_0, 1)\n    return", []),
        (
            "if pid_0 > 3:\n        return\n    tl.store(dst + pid_0, 1)\n    return",
            ["a return is left in `put`"],
        ),
        ("if pid_0 > 3:\n        return", ["a return is left in `put`"]),
    ],
)
def test_a_helper_may_end_in_a_return_but_not_return_before_its_end(body: str, left: list[str]) -> None:
    rules = frozenset({"grid-collapse", "early-return"})
    found = residues(RETURNS.replace("BODY", body), frozenset({"work"}), rules)
    assert [r.why for r in found] == left


HELPERS = """
import triton
import triton.language as tl


@triton.jit
def far(value):
    return value + tl.program_id(1)


@triton.jit
def far_task(pid_1, value):
    return value + pid_1


nearer = far
"""
HOME = "from .helpers import far, far_task\n"


@pytest.mark.parametrize(
    ("bring", "body", "clean"),
    [
        ("from pkg.helpers import far", "far(1.0)", False),
        ("from .helpers import far as near", "near(1.0)", False),
        ("from .helpers import nearer", "nearer(1.0)", False),
        ("from .helpers import *", "far(1.0)", False),
        ("from . import helpers", "helpers.far(1.0)", False),
        ("import pkg.helpers", "pkg.helpers.far(1.0)", False),
        ("from pkg import far", "far(1.0)", False),
        ("import pkg as everything", "everything.far(1.0)", False),
        ("from .helpers import far, far_task", "far_task(0, 1.0)", True),
        ("import pkg.helpers", "pkg.helpers.far_task(0, 1.0)", True),
    ],
)
def test_a_program_id_in_another_file_is_seen(bring: str, body: str, clean: bool) -> None:
    text = f"{bring}\n{KERNEL.replace('BODY', body)}"
    trees = {"pkg": HOME, "pkg.helpers": HELPERS, "pkg.rows": text}
    files = Files({name: (ast.parse(source), name == "pkg") for name, source in trees.items()})
    found = list(residues(text, frozenset({"work"}), frozenset({"grid-collapse"}), "pkg.rows", files))
    said = "`tl.program_id(1)` in the body of a task, in `far` of another file"
    assert [r.why for r in found] == ([] if clean else [said])
