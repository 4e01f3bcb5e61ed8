"""Takes a factor out of one axis of a launch's grid."""

from __future__ import annotations

import libcst as cst

from tritonport.discover.launches import LaunchSite
from tritonport.engine.context import FileContext
from tritonport.facts.walk import walk
from tritonport.passes.syntax import code_of


class GridStopped(Exception):
    """A grid that cannot be edited."""


def drop_factor(
    file: FileContext, site: LaunchSite, axis: int, factor: str
) -> tuple[cst.CSTNode, cst.CSTNode]:
    """The edit of the grid's axis. Raises GridStopped where the grid is not a tuple that is written out."""
    call = file.launch_call(site)
    assert isinstance(call.func, cst.Subscript)
    elements = [e.slice.value for e in call.func.slice if isinstance(e.slice, cst.Index)]
    if len(elements) == 1 and isinstance(elements[0], cst.Name):
        elements = [_assigned(file, call, elements[0].value)]
    if len(elements) == 1 and isinstance(elements[0], cst.Tuple):
        elements = [e.value for e in elements[0].elements]
    if axis >= len(elements):
        raise GridStopped(f"a grid without axis {axis}: {code_of(call.func)}")
    return elements[axis], without_factor(elements[axis], factor)


def _assigned(file: FileContext, call: cst.Call, name: str) -> cst.BaseExpression:
    """The one expression that a name is assigned in the function around a launch."""
    for nodes in file.functions.values():
        for node in nodes:
            if not any(found is call for found in walk(node)):
                continue
            values = [
                found.value
                for found in walk(node)
                if isinstance(found, cst.Assign)
                and any(isinstance(t.target, cst.Name) and t.target.value == name for t in found.targets)
            ]
            if len(values) == 1 and isinstance(values[0], cst.Tuple):
                return values[0]
    raise GridStopped(f"the grid `{name}` is not one tuple")


def without_factor(node: cst.BaseExpression, factor: str) -> cst.BaseExpression:
    """A product without one of its factors."""
    if isinstance(node, cst.BinaryOperation) and isinstance(node.operator, cst.Multiply):
        if code_of(node.right) == factor:
            return node.left
        if code_of(node.left) == factor:
            return node.right
        return node.with_changes(left=without_factor(node.left, factor))
    if code_of(node) == factor:
        return cst.Integer("1")
    raise GridStopped(f"`{code_of(node)}` is not a multiple of `{factor}`")
