"""Faults of a body that was put into the task loop, and of what it knows about its sequence."""

from __future__ import annotations

from collections.abc import Iterator

import libcst as cst

from tests.mutation.faults.inline import LOOP_COUNT, inlined
from tests.mutation.faults.model import (
    Fault,
    Place,
    any_case,
    both,
    has_chunks,
    is_varlen,
    tests_of,
)
from tests.mutation.tree import TaskKernel, code, replaced
from tritonport.facts.algebra import Def
from tritonport.facts.walk import find, walk


def first_length_kept(kernel: TaskKernel) -> Iterator[Place]:
    """Body in the loop; the sequence's length is set by a core's first task alone."""
    pointers = kernel.pointer_parameters()
    for name in kernel.facts.reassigned():
        for found in kernel.facts.defs_of(name):
            if found.kind == "assign" and name not in pointers:
                yield _only_first(kernel, name, found)


def _only_first(kernel: TaskKernel, name: str, found: Def) -> Place:
    def change(statement: cst.BaseStatement) -> cst.BaseStatement:
        lines = [s for s in find(statement, cst.SimpleStatementLine) if found.node in walk(s)]
        if not lines:
            return statement
        guarded = cst.parse_statement(f"if {LOOP_COUNT} == 0:\n    {code(lines[0]).strip()}\n")
        return replaced(statement, {lines[0]: guarded})

    place = inlined(kernel, carried=(name,), change=change)
    return Place(place.edits, tests_of(kernel, found.target))


def pointers_kept(kernel: TaskKernel) -> Iterator[Place]:
    """Body in the loop; pointers that it advances go on from where the last task left them."""
    moved = [n for n in kernel.facts.reassigned() if n in kernel.pointer_parameters()]
    if moved:
        yield inlined(kernel, carried=moved)


def sums_kept(kernel: TaskKernel) -> Iterator[Place]:
    """Body in the loop; an accumulator is zeroed once per core."""
    for statement in kernel.task.body.body:
        if isinstance(statement, cst.SimpleStatementLine) and _zeroes_a_sum(kernel, statement):
            yield inlined(kernel, hoisted=(statement,))


def _zeroes_a_sum(kernel: TaskKernel, statement: cst.SimpleStatementLine) -> bool:
    zeroed = [c for c in find(statement, cst.Call) if kernel.facts.calls.get(c) == "triton.language.zeros"]
    targets = [t.target for a in find(statement, cst.Assign) for t in a.targets]
    if not zeroed or not isinstance(targets[0], cst.Name):
        return False
    return any(_adds(kernel, d) for d in kernel.facts.defs_of(targets[0].value))


def _adds(kernel: TaskKernel, found: Def) -> bool:
    """Whether an assignment makes a value from itself and a product."""
    dots = set(kernel.facts.calls_of("dot"))
    inside = list(walk(found.node))
    return any(n in dots for n in inside) and (
        found.kind == "aug" or sum(isinstance(n, cst.Name) and n.value == found.name for n in inside) > 1
    )


def batch_index_in_the_sequence(kernel: TaskKernel) -> Iterator[Place]:
    """The chunk's number in the batch is used as its number in the sequence."""
    for found in _looked_up(kernel):
        assert found.expr is not None
        yield Place(((found.expr, cst.Name(found.name)),), tests_of(kernel, found.target))


def _looked_up(kernel: TaskKernel) -> Iterator[Def]:
    """Assignments `x = load(table + ... x ...)`."""
    for found in kernel.facts.defs.values():
        if found.kind != "assign" or found.expr is None:
            continue
        loads = [c for c in find(found.expr, cst.Call) if kernel.facts.calls.get(c) == "triton.language.load"]
        if any(isinstance(n, cst.Name) and n.value == found.name for c in loads for n in walk(c)):
            yield found


def sequence_index_in_the_batch(kernel: TaskKernel) -> Iterator[Place]:
    """A copy of the chunk's number in the batch, taken after it became the number in the sequence."""
    for looked_up in _looked_up(kernel):
        block = kernel.facts.enclosing(looked_up.target, cst.IndentedBlock)
        if not isinstance(block, cst.IndentedBlock):
            continue
        for alias in kernel.facts.defs.values():
            if isinstance(alias.expr, cst.Name) and alias.expr.value == looked_up.name:
                first, second = (_line(block, d) for d in (alias, looked_up))
                if first is not None and second is not None:
                    yield Place(((first, second), (second, first)), tests_of(kernel, alias.target))


def _line(block: cst.IndentedBlock, found: Def) -> cst.BaseStatement | None:
    return next((s for s in block.body if found.target in walk(s)), None)


FAULTS = (
    Fault(
        "length carried through the loop",
        "FLA#1055 review; MindSpeed recompute_w_u",
        both(is_varlen, has_chunks),
        first_length_kept,
    ),
    Fault(
        "pointers advanced across tasks",
        "FLA skill: rebind local pointers each task",
        any_case,
        pointers_kept,
    ),
    Fault("accumulator not zeroed per task", "grid collapse of kernels with sums", any_case, sums_kept),
    Fault(
        "batch's chunk index used in the sequence",
        "mojo chunk_o: chunks of varlen batches dropped",
        both(is_varlen, has_chunks),
        batch_index_in_the_sequence,
    ),
    Fault(
        "sequence's chunk index used in the batch",
        "FLA chunk_o: i_tg of a slice",
        both(is_varlen, has_chunks),
        sequence_index_in_the_batch,
    ),
)
