"""The size of each grid axis, in terms of what the kernel has and what the host must pass."""

from __future__ import annotations

import ast
from collections.abc import Sequence
from dataclasses import dataclass
from functools import reduce

from tritonport.discover import Analysis
from tritonport.discover.functions import JitFunction, parameters
from tritonport.discover.grids import GridExpr, meta_key, reads_meta
from tritonport.discover.launches import LaunchSite
from tritonport.discover.scopes import bindings
from tritonport.facts.naming import fresh
from tritonport.facts.signs import Signs

CDIV = frozenset({"triton.cdiv", "triton.language.cdiv"})
_OPERATORS: dict[type[ast.operator], str] = {
    ast.Add: "+",
    ast.Sub: "-",
    ast.Mult: "*",
    ast.FloorDiv: "//",
    ast.Mod: "%",
}
INT32 = 2**31
"""Numbers of this size and above are no 32-bit integers."""


@dataclass(frozen=True)
class Refusal:
    """Why a kernel cannot be collapsed, at a line of an upstream file."""

    file: str
    line: int
    why: str


@dataclass(frozen=True)
class AxisFormula:
    """In-kernel text of an axis size, and the extra parameters in it, in order."""

    text: str
    terms: tuple[str, ...]


class _NotUnderstood(Exception):
    pass


class _Builder:
    """Rewrites one host expression of an axis into kernel terms."""

    def __init__(self, analysis: Analysis, function: JitFunction, site: LaunchSite, grid: GridExpr) -> None:
        self._analysis, self._function, self._site, self._grid = analysis, function, site, grid
        node = function.definition.node
        assert isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef)
        self._parameters = parameters(node)
        self._arguments = _arguments(site.node, self._parameters)
        self._signs = Signs(site.scope, grid.meta)
        self.terms: dict[str, str] = {}

    def build(self, expr: ast.expr, axis: int) -> AxisFormula:
        before = set(self.terms)
        text = self._text(expr, axis)
        return AxisFormula(text, tuple(t for t in self.terms if t not in before or t in text.split()))

    def _text(self, expr: ast.expr, axis: int) -> str:
        key = meta_key(expr, self._grid.meta)
        if key is not None:
            if key not in self._parameters:
                raise _NotUnderstood(f"the grid reads `{key}`, which the kernel has no parameter for")
            return key
        if isinstance(expr, ast.Constant) and isinstance(expr.value, int) and abs(expr.value) < INT32:
            return str(expr.value)
        if not reads_meta(expr, self._grid.meta):
            return self._outer(expr, axis)
        if isinstance(expr, ast.BinOp) and type(expr.op) in _OPERATORS:
            if isinstance(expr.op, ast.FloorDiv | ast.Mod):
                return self._divided(expr.left, expr.right, axis, modulo=isinstance(expr.op, ast.Mod))
            left, right = self._text(expr.left, axis), self._text(expr.right, axis)
            return f"({left} {_OPERATORS[type(expr.op)]} {right})"
        if isinstance(expr, ast.Call) and not expr.keywords:
            return self._call(expr, axis)
        raise _NotUnderstood(
            f"the grid axis `{ast.unparse(expr)}` depends on a tuned parameter in a way not followed"
        )

    def _call(self, expr: ast.Call, axis: int) -> str:
        externals = set(self._analysis.index.externals(self._site.module, expr.func))
        if externals & CDIV and len(expr.args) == 2:
            size, tile = expr.args
            if self._signs.never_negative(size):
                self._check_divides(size, tile)
                tl = self._analysis.index.local_name(self._function.definition.module, "triton.language")
                return f"{tl or 'triton.language'}.cdiv({self._text(size, axis)}, {self._text(tile, axis)})"
            rounded = ast.BinOp(ast.BinOp(size, ast.Add(), tile), ast.Sub(), ast.Constant(1))
            return self._divided(rounded, tile, axis, modulo=False)
        if self._is_extreme(expr.func) and len(expr.args) >= 2:
            # Two by two: what device code calls `max` may take two numbers only (triton-ascend 3.2.0).
            name = ast.unparse(expr.func)
            return reduce(lambda one, two: f"{name}({one}, {two})", [self._text(a, axis) for a in expr.args])
        raise _NotUnderstood(f"the grid calls `{ast.unparse(expr.func)}` on a tuned parameter")

    def _is_extreme(self, func: ast.expr) -> bool:
        """Python's own `min` or `max`."""
        scopes = (self._site.scope, self._analysis.index.modules[self._site.module].tree)
        own = isinstance(func, ast.Name) and any(func.id in bindings(scope) for scope in scopes)
        return isinstance(func, ast.Name) and func.id in ("min", "max") and not own

    def _divided(self, size: ast.expr, divisor: ast.expr, axis: int, *, modulo: bool) -> str:
        self._check_divides(size, divisor)
        left, right = self._text(size, axis), self._text(divisor, axis)
        if not self._signs.never_negative(size):
            return _floored(left, right, modulo)
        return f"({left} {'%' if modulo else '//'} {right})"

    def _check_divides(self, size: ast.expr, divisor: ast.expr) -> None:
        """Device code divides 32-bit numbers and rounds towards zero; Python does neither."""
        if not self._signs.positive(divisor):
            raise _NotUnderstood(
                f"the grid divides by `{ast.unparse(divisor)}`, not surely a tile or a number above 0"
            )
        for node in ast.walk(size):
            if not isinstance(node, ast.BinOp) or not isinstance(node.op, ast.Mult):
                continue
            if reads_meta(node, self._grid.meta) and not self._signs.positive(node):
                why = f"the grid divides the product `{ast.unparse(node)}`, which may pass 32 bits"
                raise _NotUnderstood(why)

    def _outer(self, expr: ast.expr, axis: int) -> str:
        """A part without tuned parameters: one of the kernel's own arguments, or an extra one."""
        shape = ast.dump(expr)
        for name, value in self._arguments.items():
            if ast.dump(value) == shape:
                return name
        host = ast.unparse(expr)
        for name, text in self.terms.items():
            if text == host:
                return name
        base = f"grid_{expr.id}" if isinstance(expr, ast.Name) else f"grid_{axis}_{len(self.terms)}"
        name = fresh(base, {*self._parameters, *self.terms})
        self.terms[name] = host
        return name


def _floored(left: str, right: str, modulo: bool) -> str:
    """Python's `//` and `%` in device code, which rounds towards zero: the same for a positive divisor."""
    rest = f"(({left} % {right} + {right}) % {right})"
    return rest if modulo else f"(({left} - {rest}) // {right})"


def _arguments(call: ast.Call, names: tuple[str, ...]) -> dict[str, ast.expr]:
    """Which expression each kernel parameter gets at a launch; starred arguments end what is known."""
    found: dict[str, ast.expr] = {}
    for name, value in zip(names, call.args, strict=False):
        if isinstance(value, ast.Starred):
            break
        found[name] = value
    found.update({k.arg: k.value for k in call.keywords if k.arg is not None and k.arg in names})
    return {name: value for name, value in found.items() if isinstance(value, ast.Name | ast.Attribute)}


def _unbracket(text: str) -> str:
    """The outermost brackets of a formula say nothing."""
    tree = ast.parse(text, mode="eval").body
    return ast.unparse(tree)


SiteFormulas = tuple["tuple[AxisFormula | None, ...]", "dict[LaunchSite, tuple[tuple[str, str], ...]]"]


def site_formulas(
    analysis: Analysis,
    function: JitFunction,
    sites: tuple[LaunchSite, ...],
    rank: int,
    names: tuple[str, ...],
) -> SiteFormulas | Refusal:
    """One formula per axis that holds at every launch (None: the host passes the size), and what each site passes."""
    builders = [
        (site, grid, _Builder(analysis, function, site, grid)) for site in sites for grid in site.grids
    ]
    formulas: list[AxisFormula | None] = []
    for axis in range(rank):
        tuned = [b for b in builders if axis < len(b[1].axes) and reads_meta(b[1].axes[axis], b[1].meta)]
        if not tuned:
            formulas.append(None)
            continue
        found = _same_formula(analysis, builders, axis)
        if isinstance(found, Refusal):
            return found
        formulas.append(found)
    extras: dict[LaunchSite, tuple[tuple[str, str], ...]] = {}
    for site, grid, builder in builders:
        extras[site] = tuple(_site_extras(grid, builder, formulas, names))
    return tuple(formulas), extras


def _same_formula(
    analysis: Analysis, builders: list[tuple[LaunchSite, GridExpr, _Builder]], axis: int
) -> AxisFormula | Refusal:
    found: AxisFormula | None = None
    for site, grid, builder in builders:
        file = str(analysis.index.modules[site.module].file)
        if axis >= len(grid.axes):
            return Refusal(file, site.node.lineno, "its launches have grids of different rank")
        try:
            formula = builder.build(grid.axes[axis], axis)
        except _NotUnderstood as error:
            return Refusal(file, site.node.lineno, str(error))
        formula = AxisFormula(
            _unbracket(formula.text), tuple(t for t in builder.terms if _mentions(formula.text, t))
        )
        if found is not None and formula != found:
            why = f"axis {axis} of the grid is tuned, and another launch or branch has another size there"
            return Refusal(file, site.node.lineno, why)
        found = formula
    assert found is not None
    return found


def _mentions(text: str, name: str) -> bool:
    return any(isinstance(n, ast.Name) and n.id == name for n in ast.walk(ast.parse(text, mode="eval")))


def _site_extras(
    grid: GridExpr, builder: _Builder, formulas: list[AxisFormula | None], names: tuple[str, ...]
) -> list[tuple[str, str]]:
    """Terms of the formulas, and the sizes of the axes, which the wrapper reads off the grid itself where it can."""
    if grid.form == "tuple" and not any(formulas):
        return list(read_axes([grid], names))
    extras = list(builder.terms.items())
    for axis, formula in enumerate(formulas):
        if formula is None:
            extras.append((names[axis], ast.unparse(grid.axes[axis]) if axis < len(grid.axes) else "1"))
    return extras


def read_axes(grids: Sequence[GridExpr], names: tuple[str, ...]) -> tuple[tuple[str, str], ...]:
    """The wrapper is told which parameters take the sizes, unless they are those that it expects for a tuple."""
    expected = tuple(f"grid_{axis}" for axis in range(len(names)))
    if names == expected and all(grid.form == "tuple" and len(grid.axes) == len(names) for grid in grids):
        return ()
    listed = ", ".join(f'"{name}"' for name in names)
    return (("axes", f"({listed},)" if len(names) == 1 else f"({listed})"),)
