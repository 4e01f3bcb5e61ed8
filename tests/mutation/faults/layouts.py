"""Faults of the host code around a launch: how tensors are laid out, allocated, and how many tasks there are."""

from __future__ import annotations

import ast
from collections.abc import Iterator

import libcst as cst

from tests.mutation.faults.model import (
    Fault,
    Place,
    any_case,
    both,
    bracketed,
    expression,
    has_tail,
    is_dense,
)
from tests.mutation.tree import TaskKernel, code
from tritonport.facts.hosts.writes import runtime_helper
from tritonport.facts.walk import find, walk


def tail_tasks_dropped(kernel: TaskKernel) -> Iterator[Place]:
    """The grid has a task for whole chunks only."""
    for host in kernel.hosts:
        for call in find(host.body, cst.Call):
            divides = kernel.context.is_call_of(call, "triton.cdiv", "triton.language.cdiv")
            if divides and len(call.args) == 2 and _sizes_grid(kernel, host, call):
                top, size = (bracketed(a.value) for a in call.args)
                yield Place(((call, expression(f"({top} // {size})")),), host=True)


def _sizes_grid(kernel: TaskKernel, host: cst.FunctionDef, division: cst.Call) -> bool:
    """Whether a division ends up in a variable that stands in the brackets of the kernel's launch."""
    names = {
        t.target.value
        for a in find(host.body, cst.Assign)
        if division in walk(a.value)
        for t in a.targets
        if isinstance(t.target, cst.Name)
    }
    kernel_name = kernel.launched.name.value
    for launch in find(host.body, cst.Subscript):
        if any(isinstance(n, cst.Name) and n.value == kernel_name for n in walk(launch.value)):
            grid = [n.value for part in launch.slice for n in find(part, cst.Name)]
            return bool(names & {*grid, *_behind(host, grid)})
    return False


def _behind(host: cst.FunctionDef, names: list[str]) -> set[str]:
    """Names that a grid function with one of these names reads."""
    inner = [f for f in find(host.body, cst.FunctionDef) if f.name.value in names]
    return {n.value for f in inner for n in find(f.body, cst.Name)}


def zeros_not_made(kernel: TaskKernel) -> Iterator[Place]:
    """Memory that upstream zeroes is left as it is."""
    for host in kernel.hosts:
        for call in find(host.body, cst.Call):
            if isinstance(call.func, cst.Attribute) and kernel.context.is_call_of(
                call, "torch.zeros", "torch.zeros_like"
            ):
                fresh = call.func.attr.value.replace("zeros", "empty")
                yield Place(((call.func.attr, cst.Name(fresh)),), host=True)


def not_turned_back(kernel: TaskKernel) -> Iterator[Place]:
    """A result that the kernel writes head first is handed out without being turned back."""
    for call in _copies(kernel, "copy_back"):
        to, written = (code(arg.value) for arg in call.args)
        yield Place(((call, expression(f"{to}.copy_({written}.view_as({to}))")),), host=True)


def not_turned(kernel: TaskKernel) -> Iterator[Place]:
    """An input that the kernel reads head first is handed in as it came."""
    for call in _copies(kernel, "head_first"):
        yield Place(((call, call.args[0].value),), host=True)


def _copies(kernel: TaskKernel, helper: str) -> Iterator[cst.Call]:
    """Calls of a run-time helper in functions that launch this kernel and no other."""
    for host in kernel.hosts:
        calls = list(find(host.body, cst.Call))
        if sum(isinstance(call.func, cst.Subscript) for call in calls) == 1:
            yield from (call for call in calls if _runtime_helper(kernel, call) == helper)


def _runtime_helper(kernel: TaskKernel, call: cst.Call) -> str | None:
    parsed = ast.parse(code(call).strip(), mode="eval").body
    assert isinstance(parsed, ast.Call)
    return runtime_helper(kernel.context.analysis.index, kernel.context.module.name, parsed)


FAULTS = (
    Fault(
        "tasks of the tail chunk dropped",
        "l2norm: T // BT in the grid (93970345)",
        both(is_dense, has_tail),
        tail_tasks_dropped,
    ),
    Fault("zeros not made", "FLA 0f0f0c97: A allocated by empty", any_case, zeros_not_made, least=1),
    Fault("result not turned back", "dg of ports with [B, H, T] gates", any_case, not_turned_back),
    Fault("input not turned", "gates of ports with [B, H, T] gates", any_case, not_turned),
)
