"""What the grid of a launch is: a tuple, a lambda or a local def, found through the host function's assignments."""

from __future__ import annotations

import ast
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import TypeAlias

from tritonport.discover.index import FunctionNode
from tritonport.discover.model import Grid, GridForm
from tritonport.discover.reaching import reaching


@dataclass(frozen=True)
class GridExpr:
    """A grid with its syntax: one expression per axis, and the name that its meta-parameters have inside, if any."""

    form: GridForm
    text: str
    axes: tuple[ast.expr, ...] = ()
    meta: str | None = None
    why: str | None = None

    def fact(self) -> Grid:
        names = tuple(sorted({key for axis in self.axes for key in meta_keys(axis, self.meta)}))
        return Grid(self.text, self.form, tuple(ast.unparse(a) for a in self.axes), names, self.why)


def meta_key(node: ast.AST, meta: str | None) -> str | None:
    """`BV` of `meta['BV']` or `meta["BV"]`; None for anything else."""
    if (
        meta is not None
        and isinstance(node, ast.Subscript)
        and isinstance(node.value, ast.Name)
        and node.value.id == meta
        and isinstance(node.slice, ast.Constant)
        and isinstance(node.slice.value, str)
    ):
        return node.slice.value
    return None


def meta_keys(axis: ast.expr, meta: str | None) -> Iterator[str]:
    for node in ast.walk(axis):
        key = meta_key(node, meta)
        if key is not None:
            yield key


def reads_meta(axis: ast.expr, meta: str | None) -> bool:
    return meta is not None and any(isinstance(n, ast.Name) and n.id == meta for n in ast.walk(axis))


def _unknown(expr: ast.expr, why: str) -> GridExpr:
    return GridExpr("unknown", ast.unparse(expr), why=why)


Host: TypeAlias = FunctionNode | ast.Module


def grid_of(expr: ast.expr, hosts: Sequence[Host], launch: ast.Call) -> tuple[GridExpr, ...]:
    """Every grid that this expression may be at a launch in these functions, innermost first. Never empty."""
    return tuple(_grids(expr, hosts, launch, frozenset()))


def _grids(
    expr: ast.expr, hosts: Sequence[Host], launch: ast.AST, seen: frozenset[int]
) -> Iterator[GridExpr]:
    if isinstance(expr, ast.Tuple | ast.List):
        yield _tuple(expr, "tuple", expr, None)
    elif isinstance(expr, ast.Lambda):
        yield _callable(expr, expr.body, expr.args, "lambda")
    elif isinstance(expr, ast.IfExp):
        yield from _grids(expr.body, hosts, launch, seen)
        yield from _grids(expr.orelse, hosts, launch, seen)
    elif isinstance(expr, ast.Name) and id(expr) not in seen:
        yield from _named(expr, hosts, launch, seen | {id(expr)})
    else:
        yield _unknown(expr, f"the grid `{ast.unparse(expr)}` is no tuple, lambda or local function")


def _tuple(expr: ast.Tuple | ast.List, form: GridForm, whole: ast.expr, meta: str | None) -> GridExpr:
    if any(isinstance(axis, ast.Starred) for axis in expr.elts):
        return _unknown(
            whole, f"the grid `{ast.unparse(whole)}` is unpacked: its number of axes is not known"
        )
    if not 1 <= len(expr.elts) <= 3:
        return _unknown(
            whole, f"the grid `{ast.unparse(whole)}` has {len(expr.elts)} axes, a launch takes 1 to 3"
        )
    return GridExpr(form, ast.unparse(whole), tuple(expr.elts), meta)


def _callable(whole: ast.expr, body: ast.expr, args: ast.arguments, form: GridForm) -> GridExpr:
    names = [a.arg for a in [*args.posonlyargs, *args.args]]
    if len(names) != 1 or args.vararg or args.kwarg or args.kwonlyargs:
        return _unknown(whole, f"the grid `{ast.unparse(whole)}` does not take the meta-parameters alone")
    if isinstance(body, ast.Tuple | ast.List):
        found = _tuple(body, form, body, names[0])
        return GridExpr(found.form, ast.unparse(whole), found.axes, found.meta, found.why)
    return _unknown(whole, f"the grid function returns `{ast.unparse(body)}`, not a tuple")


def _named(expr: ast.Name, hosts: Sequence[Host], place: ast.AST, seen: frozenset[int]) -> Iterator[GridExpr]:
    found = next((f for host in hosts if (f := reaching(expr.id, host, place))), ())
    if not found:
        yield _unknown(expr, f"the grid `{expr.id}` comes from outside the function")
    for value in found:
        if value is None:
            yield _unknown(expr, f"the grid `{expr.id}` is assigned in a way that is not followed")
        elif isinstance(value, ast.FunctionDef):
            yield _local_def(expr, value)
        else:
            yield from _grids(value, hosts, value, seen)


def _local_def(expr: ast.Name, node: ast.FunctionDef) -> GridExpr:
    body = [s for s in node.body if not (isinstance(s, ast.Expr) and isinstance(s.value, ast.Constant))]
    if len(body) != 1 or not isinstance(body[0], ast.Return) or body[0].value is None:
        return _unknown(expr, f"the grid function `{node.name}` does more than return a tuple")
    found = _callable(expr, body[0].value, node.args, "def")
    return GridExpr(found.form, ast.unparse(body[0].value), found.axes, found.meta, found.why)
