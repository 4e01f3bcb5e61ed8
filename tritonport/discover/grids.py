"""What the grid of a launch is: a tuple, a lambda or a local def, found through the host function's assignments."""

from __future__ import annotations

import ast
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace

from tritonport.discover.model import Grid, GridForm
from tritonport.discover.reaching import reaching, settled
from tritonport.discover.scopes import Scope, bindings, scopes_between


@dataclass(frozen=True)
class GridExpr:
    """A grid with its syntax: one expression per axis, and the name that its meta-parameters have inside, if any.

    settled: whether the expressions surely mean at the launch what they meant where the grid was made.
    """

    form: GridForm
    text: str
    axes: tuple[ast.expr, ...] = ()
    meta: str | None = None
    why: str | None = None
    settled: bool = True

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


def grid_of(expr: ast.expr, hosts: Sequence[Scope], launch: ast.Call) -> tuple[GridExpr, ...]:
    """Every grid that this expression may be at a launch in these scopes, innermost first. Never empty."""
    return tuple(_Grids(hosts, launch).of(expr, launch, inline=True, seen=frozenset()))


class _Grids:
    """Follows the grid of one launch to what it may be.

    A rule reads the sizes of a grid function's axes where the launch stands, so the function has to see there what
    it sees where it is written: the same scope, and no name that the launch itself assigns.
    """

    def __init__(self, hosts: Sequence[Scope], launch: ast.Call) -> None:
        self.hosts, self.launch = hosts, launch
        self.direct = not scopes_between(hosts[0], launch)
        self.assigns = any(isinstance(node, ast.NamedExpr) for node in ast.walk(launch))

    def of(self, expr: ast.expr, place: ast.AST, *, inline: bool, seen: frozenset[int]) -> Iterator[GridExpr]:
        """place: where the expression is evaluated. inline: whether that is the launch itself."""
        if isinstance(expr, ast.Tuple | ast.List):
            yield self._axes(expr, place, inline)
        elif isinstance(expr, ast.Lambda):
            yield self._function(expr, _callable(expr, expr.body, expr.args, "lambda"), inline)
        elif isinstance(expr, ast.IfExp):
            yield from self.of(expr.body, place, inline=inline, seen=seen)
            yield from self.of(expr.orelse, place, inline=inline, seen=seen)
        elif isinstance(expr, ast.Name) and id(expr) not in seen:
            yield from self._named(expr, place, seen | {id(expr)})
        else:
            yield _unknown(expr, f"the grid `{ast.unparse(expr)}` is no tuple, lambda or local function")

    def _named(self, expr: ast.Name, place: ast.AST, seen: frozenset[int]) -> Iterator[GridExpr]:
        host, found = next(
            ((host, f) for host in self.hosts if (f := reaching(expr.id, host, place))), (self.hosts[-1], ())
        )
        if not found or host is not self.hosts[0]:
            yield _unknown(expr, f"the grid `{expr.id}` comes from outside the function")
            return
        for value in found:
            if value is None:
                yield _unknown(expr, f"the grid `{expr.id}` is assigned in a way that is not followed")
            elif isinstance(value, ast.FunctionDef):
                yield self._function(expr, _local_def(expr, value), inline=False)
            else:
                yield from self.of(value, value, inline=False, seen=seen)

    def _axes(self, expr: ast.Tuple | ast.List, place: ast.AST, inline: bool) -> GridExpr:
        names = {n.id for n in ast.walk(expr) if isinstance(n, ast.Name)}
        found = _tuple(expr, "tuple", expr, None)
        return replace(found, settled=inline or all(self._settled(name, place) for name in names))

    def _settled(self, name: str, place: ast.AST) -> bool:
        host = next((host for host in self.hosts if name in bindings(host)), None)
        return host is None or host is not self.hosts[0] or settled(name, host, place, self.launch)

    def _function(self, expr: ast.expr, found: GridExpr, inline: bool) -> GridExpr:
        if self.assigns or any(isinstance(n, ast.NamedExpr) for axis in found.axes for n in ast.walk(axis)):
            return _unknown(expr, f"the launch with the grid `{ast.unparse(expr)}` assigns names as it goes")
        if not inline and not self.direct:
            return _unknown(
                expr, f"the grid function `{ast.unparse(expr)}` is of another scope than the launch"
            )
        return found


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


def _local_def(expr: ast.Name, node: ast.FunctionDef) -> GridExpr:
    body = [s for s in node.body if not (isinstance(s, ast.Expr) and isinstance(s.value, ast.Constant))]
    if len(body) != 1 or not isinstance(body[0], ast.Return) or body[0].value is None or node.decorator_list:
        return _unknown(expr, f"the grid function `{node.name}` does more than return a tuple")
    found = _callable(expr, body[0].value, node.args, "def")
    return GridExpr(found.form, ast.unparse(body[0].value), found.axes, found.meta, found.why)
