"""The jit functions of a file with their index algebra, for the rules that read it."""

from __future__ import annotations

import ast
from collections.abc import Iterator
from dataclasses import dataclass

import libcst as cst

from tritonport.discover.functions import JIT, jit_meanings
from tritonport.engine.context import FileContext, dotted_text
from tritonport.facts.algebra import KernelFacts, analyse

_BUILTINS = frozenset({"range", "min", "max", "abs", "float", "int"})


@dataclass(frozen=True)
class TileKernel:
    """One jit function that moves memory. key: as discovery names it (`module:function`)."""

    key: str
    facts: KernelFacts


def kernels(file: FileContext) -> Iterator[TileKernel]:
    """Every jit function of the file that moves memory itself, in source order.

    Left out: kernels that the entry does not reach, which no case would prove, and what an earlier run wrote.
    """
    unreached = {k.name for k in file.analysis.discovery.kernels if not k.reachable}
    unreached -= {*file.programs.plans, *file.programs.refused}
    for name, nodes in file.functions.items():
        key = f"{file.module.name}:{name}"
        if key in unreached or key in file.programs.migrated:
            continue
        for node in nodes:
            if _is_jit(file, node):
                facts = _facts(file, node, key)
                if facts.calls_of("load", "store"):
                    yield TileKernel(key, facts)


def _is_jit(file: FileContext, node: cst.FunctionDef) -> bool:
    targets = (d.decorator for d in node.decorators)
    return any(not JIT.isdisjoint(file.externals(t.func if isinstance(t, cst.Call) else t)) for t in targets)


def _facts(file: FileContext, node: cst.FunctionDef, key: str) -> KernelFacts:
    if node not in file.memo.facts:
        grid = axis_parameters(file, key)
        file.memo.facts[node] = analyse(
            node, lambda name, inside: _helpers(file, name, inside), lambda expr: _dotted(file, expr), grid
        )
    return file.memo.facts[node]


def axis_parameters(file: FileContext, key: str) -> dict[str, str]:
    """Parameters that every launch of a kernel passes as the size of a grid axis, by axis."""
    found: dict[str, str] | None = None
    for site in file.analysis.sites:
        if key not in site.kernels:
            continue
        passed = {ast.dump(k.value): k.arg for k in site.node.keywords if k.arg is not None}
        for grid in site.grids:
            axes = grid.axes if grid.settled else ()
            here = {str(i): passed[ast.dump(axis)] for i, axis in enumerate(axes) if ast.dump(axis) in passed}
            found = here if found is None else {i: n for i, n in found.items() if here.get(i) == n}
    return found or {}


def _dotted(file: FileContext, node: cst.BaseExpression) -> str | None:
    text = dotted_text(node)
    if text is None:
        return None
    names = file.externals(node)
    return names[0] if names else text if text in _BUILTINS else None


def _helpers(file: FileContext, name: str, inside: cst.FunctionDef | None) -> tuple[cst.FunctionDef, ...]:
    """Helpers that a name may mean in the kernel's module, or in the module of the helper that calls it."""
    memo = file.memo
    module = file.module.name if inside is None else memo.homes[inside]
    if (module, name) not in memo.helpers:
        found = _parsed_helpers(file, module, name)
        memo.helpers[module, name] = tuple(found)
        memo.homes.update(found)
    return memo.helpers[module, name]


def _parsed_helpers(file: FileContext, module: str, name: str) -> dict[cst.FunctionDef, str]:
    """Helpers as upstream has them, with the modules that define them; none where one of them is no function."""
    analysis = file.analysis
    found: dict[cst.FunctionDef, str] = {}
    for key in jit_meanings(analysis.index, analysis.functions, module, ast.Name(name, ast.Load())):
        definition = analysis.functions[key].definition
        if isinstance(definition.node, ast.ClassDef):
            return {}
        node = definition.node
        bare = ast.FunctionDef(name=node.name, args=node.args, body=node.body, decorator_list=[], lineno=1)
        parsed = cst.parse_statement(ast.unparse(ast.fix_missing_locations(bare)))
        found[cst.ensure_type(parsed, cst.FunctionDef)] = definition.module
    return found
