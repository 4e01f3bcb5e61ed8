"""Whether a tile may get another size without a measurement that names it: the kernel's proof, and the host's part."""

from __future__ import annotations

import ast
from collections.abc import Iterator, Sequence
from dataclasses import dataclass

import libcst as cst

from tritonport.discover.grids import meta_key
from tritonport.discover.scopes import Scope
from tritonport.engine.context import FileContext
from tritonport.facts.algebra import KernelFacts
from tritonport.facts.hosts.syntax import bindings
from tritonport.facts.tile_meaning import meaning
from tritonport.passes._host_tile import Flow, Host, names_of
from tritonport.passes.kernels import kernels


def upstream_facts(file: FileContext, key: str) -> KernelFacts | None:
    """The facts about a kernel as upstream wrote it, whatever rules have done to this tree."""
    read, name = file.memo.upstream, file.module.name
    if name not in read:
        tree = cst.parse_module(file.module.text)
        read[name] = FileContext(file.module, tree, file.analysis, file.programs, file.settings)
    return next((kernel.facts for kernel in kernels(read[name]) if kernel.key == key), None)


def unproved(file: FileContext, key: str, facts: KernelFacts, tile: str, hosts: Sequence[Host]) -> str | None:
    """Why the size of a tile may be part of the result, None where it is proved not to be."""
    parameters = file.analysis.functions[key].parameters
    known: list[tuple[Host, set[str]]] = []
    dependent: set[str] = set(_decided(file, key, tile))
    for host in hosts:
        passed = host.passed(parameters)
        own = passed[tile]
        flow = Flow(own.value if isinstance(own, cst.Name) else tile)
        if host.function is not None:
            flow.see(host.body)
        names = {flow.name} | flow.tainted | flow.shaped | flow.made
        known.append((host, flow.tainted | {flow.name}))
        dependent |= {n for n, value in passed.items() if n != tile and names_of(value) & names}
    found = meaning(facts, tile, dependent)
    if found.why is not None:
        return found.why
    sites = {id(host.site): names for host, names in known}
    for site in file.analysis.sites:
        if key in site.kernels:
            for grid in site.grids:
                for axis in found.programs:
                    expr = grid.axes[axis] if 0 <= axis < len(grid.axes) else None
                    counter = _Counter(tile, frozenset(sites.get(id(site), ())), grid.meta, site.scope)
                    if expr is None or not counter.counts(expr):
                        return f"axis {axis} of the grid is not seen to have a program for every tile"
    return None


def _decided(file: FileContext, key: str, tile: str) -> set[str]:
    """Parameters that a heuristic decides by the tile's size."""
    found: set[str] = set()
    for decorator in file.analysis.functions[key].definition.node.decorator_list:
        for table in ast.walk(decorator):
            for name, value in (
                zip(table.keys, table.values, strict=True) if isinstance(table, ast.Dict) else ()
            ):
                reads = any(isinstance(n, ast.Constant) and n.value == tile for n in ast.walk(value))
                if isinstance(name, ast.Constant) and isinstance(name.value, str) and reads:
                    found.add(name.value)
    return found - {tile}


@dataclass(frozen=True, slots=True)
class _Counter:
    """How host code counts tiles. names: what holds the tile's size. meta: the parameter of a grid function."""

    tile: str
    names: frozenset[str]
    meta: str | None
    scope: Scope

    def counts(self, expr: ast.expr, seen: frozenset[str] = frozenset()) -> bool:
        """`cdiv(D, X)`, `(D + X - 1) // X`, or a name that holds nothing else."""
        if isinstance(expr, ast.Name):
            given = [v for node in ast.walk(self.scope) for name, v in _bound(node) if name == expr.id]
            return (
                bool(given) and expr.id not in seen and all(self.counts(v, seen | {expr.id}) for v in given)
            )
        if isinstance(expr, ast.Call) and len(expr.args) == 2:
            func = expr.func
            last = (
                func.attr
                if isinstance(func, ast.Attribute)
                else func.id
                if isinstance(func, ast.Name)
                else ""
            )
            return last == "cdiv" and self._is_tile(expr.args[1])
        if isinstance(expr, ast.BinOp) and isinstance(expr.op, ast.FloorDiv):
            inside = any(isinstance(n, ast.expr) and self._is_tile(n) for n in ast.walk(expr.left))
            return inside and self._is_tile(expr.right)
        return False

    def _is_tile(self, expr: ast.expr) -> bool:
        return meta_key(expr, self.meta) == self.tile or (
            isinstance(expr, ast.Name) and expr.id in self.names
        )


def _bound(node: ast.AST) -> Iterator[tuple[str, ast.expr]]:
    return bindings(node) if isinstance(node, ast.stmt) else iter(())
