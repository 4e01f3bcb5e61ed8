"""Faults of the host code around a launch: how tensors are laid out, allocated, and how many tasks there are."""

from __future__ import annotations

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
    yield from _turns(kernel, after=True)


def not_turned(kernel: TaskKernel) -> Iterator[Place]:
    """An input that the kernel reads head first is handed in as it came."""
    yield from _turns(kernel, after=False)


def _turns(kernel: TaskKernel, *, after: bool) -> Iterator[Place]:
    """Transpositions that the host makes for this kernel, on this side of its launch."""
    for host in kernel.hosts:
        nodes = list(walk(host.body))
        launch = next((i for i, n in enumerate(nodes) if _is_launch(kernel, n)), None)
        if launch is None:
            continue
        end = launch + len(list(walk(nodes[launch])))
        for i, node in enumerate(nodes):
            if (i >= end) == after and (turned := _turned(node)) is not None:
                plain = expression(f"{code(turned)}.contiguous().view_as({code(node)})")
                yield Place(((node, plain),), host=True)


def _is_launch(kernel: TaskKernel, node: cst.CSTNode) -> bool:
    if not (isinstance(node, cst.Call) and isinstance(node.func, cst.Subscript)):
        return False
    return any(
        isinstance(n, cst.Name) and n.value == kernel.launched.name.value for n in walk(node.func.value)
    )


def _turned(node: cst.CSTNode) -> cst.BaseExpression | None:
    """x of `x.t()`, `x.transpose(1, 2)` and the like."""
    if isinstance(node, cst.Call) and isinstance(node.func, cst.Attribute):
        turns = node.func.attr.value in ("t", "transpose", "permute", "movedim", "swapaxes")
        return node.func.value if turns else None
    return None


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
