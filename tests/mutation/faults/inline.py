"""Puts a task's body into the loop of its kernel, as ports by hand do, with chosen values kept between tasks."""

from __future__ import annotations

from collections.abc import Callable, Collection

import libcst as cst

from tests.mutation.faults.model import Place
from tests.mutation.tree import TaskKernel, code, replaced
from tritonport.facts.walk import find, walk

_PREFIX = "outer_"
LOOP_COUNT = "outer_count"
"""The loop's own variable after inlining."""


def inlined(
    kernel: TaskKernel,
    carried: Collection[str] = (),
    hoisted: Collection[cst.BaseStatement] = (),
    change: Callable[[cst.BaseStatement], cst.BaseStatement] = lambda s: s,
) -> Place:
    """The launched kernel with its task's body in the loop.

    carried: parameters that the body changes and that keep their value from one task to the next; the others
    start afresh. hoisted: statements of the body's top level that move in front of the loop. change: for each
    other statement of the body.
    """
    saved = [name for name in kernel.facts.reassigned() if name not in carried]
    before = [_renamed(s, kernel) for s in kernel.launched.body.body if s is not kernel.loop]
    keep = [_statement(f"{_PREFIX}{name}_0 = {name}") for name in saved]
    fresh = [_statement(f"{name} = {_PREFIX}{name}_0") for name in saved]
    ids = [_statement(f"{name} = {code(_renamed(value, kernel))}") for name, value in kernel.ids]
    head = [_renamed(s, kernel) for s in kernel.loop.body.body if not _runs_task(s, kernel)]
    body = [change(s) for s in kernel.task.body.body if s not in hoisted]
    moved = list(hoisted)
    inner = [s.deep_clone() for s in (*head, *ids, *fresh, *body)]
    loop = kernel.loop.with_changes(
        target=cst.Name(LOOP_COUNT), iter=_renamed(kernel.loop.iter, kernel), body=cst.IndentedBlock(inner)
    )
    new = cst.IndentedBlock([*before, *keep, *(s.deep_clone() for s in moved), loop])
    return Place(((kernel.launched.body, new),))


def _runs_task(statement: cst.CSTNode, kernel: TaskKernel) -> bool:
    return any(node is kernel.call for node in walk(statement))


def _renamed(node: cst.CSTNode, kernel: TaskKernel) -> cst.CSTNode:
    """A part of the launched kernel in which the kernel's own locals cannot meet those of the body."""
    own = {t.target.value for s in find(kernel.launched.body, cst.Assign) for t in _targets(s)}
    own |= {kernel.loop.target.value} if isinstance(kernel.loop.target, cst.Name) else set()
    new = {name: f"{_PREFIX}{name}" for name in own}
    if isinstance(kernel.loop.target, cst.Name):
        new[kernel.loop.target.value] = LOOP_COUNT
    return replaced(node, {n: cst.Name(new[n.value]) for n in find(node, cst.Name) if n.value in new})


def _targets(statement: cst.Assign) -> list[cst.AssignTarget]:
    """Single names that an assignment sets, those of a tuple too."""
    found: list[cst.AssignTarget] = []
    for target in statement.targets:
        inner = [target.target]
        if isinstance(target.target, cst.Tuple):
            inner = [element.value for element in target.target.elements]
        found += [cst.AssignTarget(n) for n in inner if isinstance(n, cst.Name)]
    return found


def _statement(text: str) -> cst.BaseStatement:
    return cst.parse_statement(text)
