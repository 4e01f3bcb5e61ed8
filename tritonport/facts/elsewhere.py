"""Modules that use a migrated kernel and are not migrated with it: their launches lack the kernel's new parameters."""

from __future__ import annotations

import ast
from collections.abc import Collection, Iterator, Mapping
from dataclasses import replace
from pathlib import Path, PurePosixPath

from tritonport.discover import Analysis
from tritonport.discover.functions import parameters
from tritonport.discover.index import Definition, External, Index
from tritonport.discover.parse import ParsedModule, parse_file
from tritonport.record import KernelRecord
from tritonport.sources.tree import SourceTree, is_hand_port, python_files

AT_MOST = 3
"""Places that one note names."""


def with_uses_elsewhere(
    kernels: Collection[KernelRecord], analysis: Analysis, texts: Mapping[str, str]
) -> tuple[KernelRecord, ...]:
    """The kernels, with a note where a module outside the migrated ones uses one whose parameters changed.

    texts: the files of the output. Modules of the same package are looked at, and the files beside a lone one.
    """
    changed = {k.name: added for k in kernels if (added := _added(analysis, k, texts))}
    tree = analysis.discovery.tree
    places = _places(analysis, frozenset(changed)) if changed else {}
    return tuple(
        replace(k, notes=(*k.notes, _text(places[k.name], changed[k.name], tree))) if k.name in places else k
        for k in kernels
    )


def _text(places: list[str], added: list[str], tree: SourceTree) -> str:
    named = ", ".join(places[:AT_MOST]) + (
        f" and {len(places) - AT_MOST} more" if len(places) > AT_MOST else ""
    )
    lacks = ", ".join(f"`{name}`" for name in added)
    way = f"migrate the package `{tree.package}`" if tree.package else "migrate the folder with both files"
    return f"also used in {named}, which this run does not migrate: launches there do not pass {lacks}; {way}"


def _added(analysis: Analysis, kernel: KernelRecord, texts: Mapping[str, str]) -> list[str]:
    """Parameters that a kernel has in the output alone."""
    function = analysis.functions.get(kernel.name)
    if function is None or kernel.file not in texts:
        return []
    name = kernel.name.partition(":")[2].rpartition(".")[2]
    for node in ast.walk(ast.parse(texts[kernel.file])):
        if isinstance(node, ast.FunctionDef) and node.name == name:
            return [p for p in parameters(node) if p not in function.parameters]
    return []


def _places(analysis: Analysis, kernels: frozenset[str]) -> dict[str, list[str]]:
    """`file:line` of the first use in each module outside, by kernel."""
    tree = analysis.discovery.tree
    names = {key.partition(":")[2].encode() for key in kernels}
    outside = {m.name: m for m in _outside(tree, analysis.index, names)}
    index = Index({**analysis.index.modules, **outside})
    found: dict[str, dict[str, int]] = {}
    for module in outside.values():
        for key, line in _uses(index, module):
            if key in kernels:
                lines = found.setdefault(key, {})
                lines[str(module.file)] = min(line, lines.get(str(module.file), line))
    return {key: [f"{file}:{line}" for file, line in sorted(at.items())] for key, at in found.items()}


def _outside(tree: SourceTree, index: Index, names: Collection[bytes]) -> Iterator[ParsedModule]:
    """Modules near the entry that no migration reads, and in whose text one of these names stands."""
    read = {module.file for module in index.modules.values()}
    for path in _near(tree):
        file = PurePosixPath(path.relative_to(tree.root).as_posix())
        if file in read or is_hand_port(file):
            continue
        if any(name in path.read_bytes() for name in names):
            module = parse_file(tree, file)
            if isinstance(module, ParsedModule):
                yield module


def _near(tree: SourceTree) -> Iterator[Path]:
    if tree.package is not None and (tree.root / tree.package).is_dir():
        yield from python_files(tree.root / tree.package)
    elif tree.entry_path.is_dir():
        yield from python_files(tree.entry_path)
    else:
        yield from sorted(tree.entry_path.parent.glob("*.py"))


def _uses(index: Index, module: ParsedModule) -> Iterator[tuple[str, int]]:
    """(`module:kernel`, line) of every name that a module reads; an import by itself is no use."""
    for statement in module.tree.body:
        for node in ast.walk(statement):
            if isinstance(node, ast.Name | ast.Attribute) and isinstance(node.ctx, ast.Load):
                for meaning in index.meanings(module.name, node, statement):
                    if isinstance(meaning, Definition) and meaning.module != module.name:
                        yield meaning.key, node.lineno
                    elif isinstance(meaning, External):
                        yield ":".join(meaning.dotted.rpartition(".")[::2]), node.lineno
