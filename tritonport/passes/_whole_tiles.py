"""When a compare of an index with a size is true in every lane: the size is a whole number of tiles."""

from __future__ import annotations

import ast
from dataclasses import dataclass

from tritonport.discover.launches import LaunchSite
from tritonport.discover.reaching import reaching, settled
from tritonport.discover.scopes import bindings
from tritonport.engine.context import FileContext
from tritonport.facts.algebra import Poly, Symbol, symbols
from tritonport.facts.algebra.values import Bound

_CDIV = frozenset({"triton.cdiv", "triton.language.cdiv"})


@dataclass(frozen=True)
class WholeTile:
    """The compare holds in every lane where size % extent == 0.

    constexpr: both are known when the kernel compiles. unless: a flag under which nothing is known (`IS_VARLEN`).
    """

    size: str
    extent: str
    constexpr: bool
    unless: str | None = None


def whole_tile(file: FileContext, kernel: str, bound: Bound) -> WholeTile | None:
    """`s * E + lane < P`, where s counts the tiles of P: 0 <= s < cdiv(P, E)."""
    if bound.op != "<":
        return None
    distance, unless = _settled(bound.left - _limit(bound.right))
    lanes = list(distance.lanes())
    sizes = [s for mono, factor in distance.terms if factor == -1 and len(mono) == 1 for s in mono]
    sizes = [s for s in sizes if s.kind in ("param", "constexpr")]
    if len(lanes) != 1 or len(sizes) != 1 or lanes[0].extent is None:
        return None
    extent, size = lanes[0].extent, sizes[0]
    start = distance - Poly.of(lanes[0]) + Poly.of(size)
    if not _counts_tiles(file, kernel, start, size, extent, unless):
        return None
    known = size.kind == "constexpr"
    return WholeTile(size.label, str(extent), known, unless)


def _limit(right: Poly) -> Poly:
    """A limit that index-width has clamped to the tile, as it was: max(0, min(E, limit))."""
    for _ in range(2):
        symbol = next(iter(right.symbols), None)
        if symbol is None or right != Poly.of(symbol) or not symbol.key.startswith(("max(", "min(")):
            return right
        moving = [p for p in symbol.parts if any(s.kind != "constexpr" for s in p.symbols)]
        if len(moving) != 1:
            return right
        right = moving[0]
    return right


def _settled(poly: Poly) -> tuple[Poly, str | None]:
    """The polynomial where the one flag that it depends on is false, and that flag."""
    tests = {s.key[len("join(") :].partition(";")[0] for s in poly.symbols if s.kind == "join"}
    if len(tests) != 1 or not (flag := tests.copy().pop()).isidentifier():
        return poly, None
    return poly.map_symbols(lambda s: s.parts[1] if s.kind == "join" else Poly.of(s)), flag


def _counts_tiles(
    file: FileContext, kernel: str, start: Poly, size: Symbol, extent: Poly, unless: str | None
) -> bool:
    """Whether start is the number of a tile times its extent."""
    if start.is_zero:
        return size.kind == "constexpr" and str(extent) == size.label
    number, rest = start.quotient(extent)
    symbol = next(iter(number.symbols), None)
    if not rest.is_zero or symbol is None or number != Poly.of(symbol):
        return False
    if symbol.hi is not None and symbol.hi + Poly.const(1) == symbols.cdiv(Poly.of(size), extent):
        return True
    if symbol.kind != "pid":
        return False
    axis = symbol.label.removeprefix("program_id(").removesuffix(")")
    sites = [s for s in file.analysis.sites if kernel in s.kernels]
    return bool(sites) and all(_axis_counts(file, s, axis, size.label, str(extent), unless) for s in sites)


def _axis_counts(
    file: FileContext, site: LaunchSite, axis: str, size: str, extent: str, unless: str | None
) -> bool:
    """Whether every grid of a launch has `cdiv(size, extent)` programs along an axis, by what the launch passes."""
    passed = _passed(file, site)
    for grid in site.grids:
        if not grid.settled or not axis.isdecimal() or int(axis) >= len(grid.axes):
            return False
        found = _values(file, site, grid.axes[int(axis)], _absent(file, site, unless, passed))
        if not found or not all(_is_cdiv(file, site, x, passed, grid.meta, size, extent) for x in found):
            return False
    return True


def _passed(file: FileContext, site: LaunchSite) -> dict[str, str]:
    """Source text of what a launch passes, by parameter."""
    function = file.analysis.functions[site.kernels[0]]
    given = dict(zip(function.parameters, site.node.args, strict=False))
    given |= {k.arg: k.value for k in site.node.keywords if k.arg is not None}
    return {name: ast.unparse(value) for name, value in given.items()}


def _absent(file: FileContext, site: LaunchSite, flag: str | None, passed: dict[str, str]) -> frozenset[str]:
    """What a launch passes as None where a flag is false, by the heuristic `args['c'] is not None` of the kernel."""
    node = file.analysis.functions[site.kernels[0]].definition.node
    tables = [t for d in node.decorator_list for t in ast.walk(d) if isinstance(t, ast.Dict)]
    return frozenset(
        passed[key.value]
        for table in tables
        for name, value in zip(table.keys, table.values, strict=True)
        if isinstance(name, ast.Constant) and name.value == flag and isinstance(value, ast.Lambda)
        for test in [value.body]
        if isinstance(test, ast.Compare) and isinstance(test.ops[0], ast.IsNot) and _is_none(test)
        for key in [getattr(test.left, "slice", None)]
        if isinstance(key, ast.Constant) and key.value in passed
    )


def _values(file: FileContext, site: LaunchSite, axis: ast.expr, absent: frozenset[str]) -> list[ast.expr]:
    """What an axis may be; of `x if c is None else y`, the first for a c that is None here."""
    if isinstance(axis, ast.Name):
        host = _host(file, site)
        bounds = reaching(axis.id, host, site.node) if host is not None else ()
        values = [b for b in bounds if isinstance(b, ast.expr)]
        if host is None or len(values) < len(bounds) or not all(_holds(host, site, v) for v in values):
            return []
        return [v for b in values for v in _values(file, site, b, absent)]
    test = axis.test if isinstance(axis, ast.IfExp) else None
    asks = isinstance(test, ast.Compare) and isinstance(test.ops[0], ast.Is) and _is_none(test)
    if (
        isinstance(axis, ast.IfExp)
        and isinstance(test, ast.Compare)
        and asks
        and ast.unparse(test.left) in absent
    ):
        return [axis.body]
    return [axis]


def _holds(host: ast.FunctionDef, site: LaunchSite, value: ast.expr) -> bool:
    """Whether the names in what was assigned still mean the same where the launch stands."""
    names = {n.id for n in ast.walk(value) if isinstance(n, ast.Name)} & bindings(host).keys()
    return all(settled(name, host, value, site.node) for name in names)


def _is_none(test: ast.Compare) -> bool:
    right = test.comparators[0]
    return isinstance(right, ast.Constant) and right.value is None


def _host(file: FileContext, site: LaunchSite) -> ast.FunctionDef | None:
    """The function around a launch."""
    for node in ast.walk(file.analysis.index.modules[site.module].tree):
        if isinstance(node, ast.FunctionDef) and node.name == site.unit:
            return node
    return None


def _is_cdiv(
    file: FileContext,
    site: LaunchSite,
    value: ast.expr,
    passed: dict[str, str],
    meta: str | None,
    size: str,
    extent: str,
) -> bool:
    if not isinstance(value, ast.Call) or len(value.args) != 2:
        return False
    if _CDIV.isdisjoint(file.analysis.index.externals(site.module, value.func)):
        return False
    left, right = (ast.unparse(a) for a in value.args)
    tuned = {f"{meta}['{extent}']", f'{meta}["{extent}"]'} if meta is not None else set[str]()
    return left == passed.get(size) and right in {passed.get(extent, extent), *tuned}
