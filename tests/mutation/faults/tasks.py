"""Faults of the loop over tasks: which tasks run, and how a task number becomes program ids."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from types import SimpleNamespace
from typing import Any

import libcst as cst

from tests.mutation.faults.model import Fault, Place, any_case, bracketed, expression
from tests.mutation.tree import TaskKernel, code
from tritonport.facts.walk import find


def _bound(kernel: TaskKernel) -> cst.BaseExpression | None:
    """The number of trips of the loop over tasks."""
    trips = kernel.loop.iter
    if isinstance(trips, cst.Call) and trips.args:
        return trips.args[-1 if len(trips.args) < 3 else 1].value
    return None


def one_task_less(kernel: TaskKernel) -> Iterator[Place]:
    bound = _bound(kernel)
    if bound is not None:
        yield Place(((bound, expression(f"{bracketed(bound)} - 1")),))


def one_task_more(kernel: TaskKernel) -> Iterator[Place]:
    bound = _bound(kernel)
    if bound is not None:
        yield Place(((bound, expression(f"{bracketed(bound)} + 1")),))


def remainder_forgotten(kernel: TaskKernel) -> Iterator[Place]:
    """Shares start as if they were all equal."""
    for call in find(kernel.launched.body, cst.Call):
        if kernel.context.is_call_of(call, "triton.language.minimum"):
            yield Place(((call, cst.Integer("0")),))


def ids_swapped(kernel: TaskKernel) -> Iterator[Place]:
    """The first two program ids of a task in the other order. On a square grid that is another order of the same
    tasks, and no fault."""
    values = [value for _, value in kernel.ids]
    if len(values) > 1:
        edits = ((values[0], values[1]), (values[1], values[0]))
        yield Place(edits, launches=lambda constants: not _square(kernel, constants))


def _square(kernel: TaskKernel, constants: Mapping[str, Any]) -> bool:
    """Whether the first axis of a launch has as many tasks as all others together."""
    first = kernel.ids[0][1]
    bound = _bound(kernel)
    if not isinstance(first, cst.BinaryOperation) or bound is None:
        return True
    one_core = SimpleNamespace(
        cdiv=lambda a, b: -(-a // b), minimum=min, program_id=lambda _: 0, num_programs=lambda _: 1
    )
    values: dict[str, Any] = {**constants, "tl": one_core}
    before = [s for s in kernel.launched.body.body if s is not kernel.loop]
    exec("".join(code(s) for s in before), {}, values)  # the kernel's own prologue, on one core
    tasks, size = (eval(code(node), {}, values) for node in (bound, first.right))
    return tasks == size * size


def decoded_by_the_wrong_axis(kernel: TaskKernel) -> Iterator[Place]:
    """A program id split by the size of another axis: `pid // n` and `pid % n` exchanged."""
    for _, value in kernel.ids:
        if isinstance(value, cst.BinaryOperation) and isinstance(value.operator, cst.Modulo):
            yield Place(((value, value.with_changes(operator=cst.FloorDivide())),))


FAULTS = (
    Fault(
        "last task of a core lost",
        "triton-ascend#2292: programs of the last group not run",
        any_case,
        one_task_less,
    ),
    Fault(
        "a task of the next core done too",
        "seen by traces only (overlapping writes)",
        any_case,
        one_task_more,
    ),
    Fault(
        "remainder of the shares forgotten",
        "BAL idiom of MindSpeed without its remainder",
        any_case,
        remainder_forgotten,
    ),
    Fault("program ids swapped", "grid collapse, first FLA ports", any_case, ids_swapped),
    Fault(
        "program id decoded by the wrong axis",
        "grid collapse, first FLA ports",
        any_case,
        decoded_by_the_wrong_axis,
    ),
)
