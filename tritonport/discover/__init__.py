"""From an entry to its import closure, kernels, launch sites and what is reachable.

Reads source with `ast`; runs nothing.
"""

from __future__ import annotations

import ast
from collections.abc import Mapping
from dataclasses import dataclass

from tritonport.discover.apart import apart_reason
from tritonport.discover.closure import import_closure
from tritonport.discover.functions import JitFunction, called_by_jit, jit_functions, reached
from tritonport.discover.index import Index
from tritonport.discover.launches import LaunchSite, launch_sites
from tritonport.discover.model import Discovery, Kernel, Launch
from tritonport.discover.opaque import OpaqueKernel, opaque_kernels
from tritonport.discover.parse import ParsedModule
from tritonport.discover.reach import MODULE, reachable_units
from tritonport.sources.tree import SourceTree

__all__ = ["Analysis", "analyse", "discover"]


@dataclass(frozen=True)
class Analysis:
    """Discovery together with the syntax it was read from, for the rules."""

    discovery: Discovery
    index: Index
    functions: dict[str, JitFunction]
    sites: tuple[LaunchSite, ...]
    reachable: frozenset[str]


def analyse(
    tree: SourceTree,
    overlay: Mapping[str, str] | None = None,
    known: Mapping[str, ParsedModule] | None = None,
) -> Analysis:
    """Read an entry's closure and everything that the rules start from. overlay, known: see import_closure."""
    closure = import_closure(tree, overlay, known)
    index = Index(closure.modules)
    functions = jit_functions(index)
    sites = launch_sites(index, functions)
    entry = tuple(tree.module_name(file) for file in tree.entry_files())
    units = reachable_units(index, entry)
    reachable = frozenset(
        kernel for site in sites if _site_reachable(site, units, entry) for kernel in site.kernels
    )
    opaque = [
        _opaque(index, kernel, kernel.unit in units if kernel.unit else kernel.module in entry)
        for kernel in opaque_kernels(index, functions)
    ]
    kernels = [*_kernels(index, functions, sites, reachable), *opaque]
    discovery = Discovery(
        tree=tree,
        files=tuple(sorted(m.file for m in index.modules.values())),
        kernels=tuple(sorted(kernels, key=lambda k: (str(k.file), k.line))),
        launches=tuple(_launch(index, site, _site_reachable(site, units, entry)) for site in sites),
        problems=tuple(closure.problems),
    )
    return Analysis(discovery, index, functions, sites, units)


def discover(tree: SourceTree) -> Discovery:
    """The facts alone, as `tritonport plan` prints them."""
    return analyse(tree).discovery


def _site_reachable(site: LaunchSite, units: frozenset[str], entry: tuple[str, ...]) -> bool:
    if site.unit == MODULE:
        return site.module in entry
    return f"{site.module}:{site.unit}" in units


def _opaque(index: Index, kernel: OpaqueKernel, reachable: bool) -> Kernel:
    file = index.modules[kernel.module].file
    return Kernel(
        name=kernel.key,
        file=file,
        line=kernel.node.lineno,
        decorators=(),
        cube=False,
        reachable=reachable,
        apart=apart_reason(file),
        opaque=kernel.why,
    )


def _launch(index: Index, site: LaunchSite, reachable: bool) -> Launch:
    known = [g for g in site.grids if g.form != "unknown"]
    grid = site.grid if len(known) == len(site.grids) else next(g for g in site.grids if g.form == "unknown")
    file = index.modules[site.module].file
    return Launch(site.kernels, file, site.node.lineno, site.host, grid.fact(), reachable)


def _kernels(
    index: Index, functions: dict[str, JitFunction], sites: tuple[LaunchSite, ...], reachable: frozenset[str]
) -> tuple[Kernel, ...]:
    launched = {kernel for site in sites for kernel in site.kernels}
    helpers = called_by_jit(functions)
    found = [
        f
        for f in functions.values()
        if f.key in launched or (f.uses_program and not f.gives_value and f.key not in helpers)
    ]
    return tuple(_kernel(index, functions, f, reachable) for f in found)


def _kernel(
    index: Index, functions: dict[str, JitFunction], function: JitFunction, reachable: frozenset[str]
) -> Kernel:
    definition = function.definition
    file = index.modules[definition.module].file
    return Kernel(
        name=function.key,
        file=file,
        line=definition.node.lineno,
        decorators=tuple(ast.unparse(d) for d in definition.node.decorator_list),
        cube=any(f.uses_dot for f in reached(functions, function.key)),
        reachable=function.key in reachable,
        apart=apart_reason(file),
    )
