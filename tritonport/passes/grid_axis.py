"""Changes a factor of one axis of a launch's grid."""

from __future__ import annotations

from collections.abc import Iterator

import libcst as cst

from tritonport.discover.launches import LaunchSite
from tritonport.engine.context import FileContext
from tritonport.facts.walk import code_of, names_in, walk


class GridStopped(Exception):
    """A grid that cannot be edited."""


def change_factor(
    file: FileContext, site: LaunchSite, axis: int, factor: str, by: str
) -> tuple[cst.BaseExpression, cst.BaseExpression]:
    """The grid's axis and what it becomes. Raises GridStopped where the grid is not a tuple that is written out."""
    if any(grid.form == "unknown" for grid in site.grids):
        raise GridStopped("the grid is known at run time only")
    call = file.launch_call(site)
    assert isinstance(call.func, cst.Subscript)
    elements = [e.slice.value for e in call.func.slice if isinstance(e.slice, cst.Index)]
    if len(elements) == 1 and isinstance(elements[0], cst.Name):
        elements = [_assigned(file, call, elements[0].value)]
    if len(elements) == 1 and isinstance(elements[0], cst.Lambda):
        elements = [elements[0].body]
    if len(elements) == 1 and isinstance(elements[0], cst.Tuple):
        elements = [e.value for e in elements[0].elements]
    if axis >= len(elements):
        raise GridStopped(f"a grid without axis {axis}: {code_of(call.func)}")
    return elements[axis], with_factor(elements[axis], factor, by)


def _assigned(file: FileContext, call: cst.Call, name: str) -> cst.BaseExpression:
    """The one grid that a name stands for in the function around a launch: a tuple, or what a function returns."""
    for nodes in file.functions.values():
        for node in nodes:
            if any(found is call for found in walk(node)):
                grids = [grid for found in walk(node) for grid in _grids(found, name)]
                if sum(used.value == name for used in names_in(node)) > 2:
                    raise GridStopped(f"the grid `{name}` is used more than once")
                if len(grids) == 1 and isinstance(grids[0], (cst.Tuple, cst.Lambda)):
                    return grids[0]
    raise GridStopped(f"the grid `{name}` is not one tuple")


def _grids(node: cst.CSTNode, name: str) -> Iterator[cst.BaseExpression | None]:
    """What a statement gives to a name, where it is one that gives anything."""
    if isinstance(node, cst.Assign):
        if any(isinstance(t.target, cst.Name) and t.target.value == name for t in node.targets):
            yield node.value
    elif isinstance(node, cst.FunctionDef) and node.name.value == name:
        yield from (found.value for found in walk(node.body) if isinstance(found, cst.Return))


def with_factor(node: cst.BaseExpression, factor: str, by: str) -> cst.BaseExpression:
    """A product with one of its factors replaced. Raises GridStopped where it has no such factor."""
    if code_of(node) == factor:
        return cst.parse_expression(by)
    if isinstance(node, cst.BinaryOperation) and isinstance(node.operator, cst.Multiply):
        if code_of(node.right) == factor:
            return node.with_changes(right=cst.parse_expression(by))
        return node.with_changes(left=with_factor(node.left, factor, by))
    raise GridStopped(f"`{code_of(node)}` is not a multiple of `{factor}`")
