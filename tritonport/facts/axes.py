"""The size of each grid axis, in terms of what the kernel has and what the host must pass."""

from __future__ import annotations

import ast
from dataclasses import dataclass
from functools import cached_property

from tritonport.discover import Analysis
from tritonport.discover.functions import JitFunction, parameters
from tritonport.discover.grids import GridExpr, meta_key, reads_meta
from tritonport.discover.launches import LaunchSite
from tritonport.facts.naming import fresh

CDIV = frozenset({"triton.cdiv", "triton.language.cdiv"})
_OPERATORS: dict[type[ast.operator], str] = {
    ast.Add: "+",
    ast.Sub: "-",
    ast.Mult: "*",
    ast.FloorDiv: "//",
    ast.Mod: "%",
}


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
        if isinstance(expr, ast.Constant) and isinstance(expr.value, int):
            return str(expr.value)
        if not reads_meta(expr, self._grid.meta):
            return self._outer(expr, axis)
        if isinstance(expr, ast.BinOp) and type(expr.op) in _OPERATORS:
            left, right = self._text(expr.left, axis), self._text(expr.right, axis)
            if isinstance(expr.op, ast.FloorDiv | ast.Mod) and not self._never_negative(expr.left):
                return _floored(left, right, isinstance(expr.op, ast.Mod))
            return f"({left} {_OPERATORS[type(expr.op)]} {right})"
        if isinstance(expr, ast.Call) and not expr.keywords:
            return self._call(expr, axis)
        raise _NotUnderstood(
            f"the grid axis `{ast.unparse(expr)}` depends on a tuned parameter in a way not followed"
        )

    def _call(self, expr: ast.Call, axis: int) -> str:
        externals = set(self._analysis.index.externals(self._site.module, expr.func))
        texts = [self._text(arg, axis) for arg in expr.args]
        args = ", ".join(texts)
        if externals & CDIV and len(texts) == 2 and not self._never_negative(expr.args[0]):
            return _floored(f"({texts[0]} + {texts[1]} - 1)", texts[1], modulo=False)
        if externals & CDIV:
            tl = self._analysis.index.local_name(self._function.definition.module, "triton.language")
            return f"{tl or 'triton.language'}.cdiv({args})"
        if isinstance(expr.func, ast.Name) and expr.func.id in ("min", "max") and not externals:
            return f"{expr.func.id}({args})"
        raise _NotUnderstood(f"the grid calls `{ast.unparse(expr.func)}` on a tuned parameter")

    def _never_negative(self, expr: ast.expr, seen: frozenset[str] = frozenset()) -> bool:
        """Whether nothing is subtracted on the way to a value; what a caller passes is taken for a size.

        seen: names that are being asked about, so that `n = n // 2` in a loop ends.
        """
        if isinstance(expr, ast.BinOp):
            if isinstance(expr.op, ast.Sub):
                return False
            return self._never_negative(expr.left, seen) and self._never_negative(expr.right, seen)
        if isinstance(expr, ast.Constant):
            return isinstance(expr.value, int) and expr.value >= 0
        if isinstance(expr, ast.Name) and expr.id not in seen:
            values = self._assigned.get(expr.id, ())
            return all(self._never_negative(value, seen | {expr.id}) for value in values)
        return not isinstance(expr, ast.UnaryOp)

    @cached_property
    def _assigned(self) -> dict[str, list[ast.expr]]:
        """What the functions around the launch assign to each name."""
        found: dict[str, list[ast.expr]] = {}
        for function in ast.walk(self._analysis.index.modules[self._site.module].tree):
            if isinstance(function, ast.FunctionDef) and any(
                n is self._site.node for n in ast.walk(function)
            ):
                for node in ast.walk(function):
                    for target in node.targets if isinstance(node, ast.Assign) else ():
                        if isinstance(target, ast.Name) and isinstance(node, ast.Assign):
                            found.setdefault(target.id, []).append(node.value)
        return found

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
            why = f"its launches give the tuned axis differently: `{found.text}` and `{formula.text}`"
            return Refusal(file, site.node.lineno, why)
        found = formula
    assert found is not None
    return found


def _mentions(text: str, name: str) -> bool:
    return any(isinstance(n, ast.Name) and n.id == name for n in ast.walk(ast.parse(text, mode="eval")))


def _site_extras(
    grid: GridExpr, builder: _Builder, formulas: list[AxisFormula | None], names: tuple[str, ...]
) -> list[tuple[str, str]]:
    """Terms of the formulas, and the axis sizes where the wrapper cannot read all of them off a tuple by itself."""
    plain = grid.form == "tuple" and len(grid.axes) == len(names) and not any(formulas)
    if plain and names == tuple(f"grid_{axis}" for axis in range(len(names))):
        return []
    extras = list(builder.terms.items())
    for axis, formula in enumerate(formulas):
        if formula is None:
            extras.append((names[axis], ast.unparse(grid.axes[axis]) if axis < len(grid.axes) else "1"))
    return extras
